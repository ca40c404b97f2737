#include "unit/allocation_counter.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::int64_t>& counter() {
  static std::atomic<std::int64_t> allocations{0};
  return allocations;
}

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  ++counter();
  if (bytes > PTRDIFF_MAX) return nullptr;  // as the operators being replaced do
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  return std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  void* const pointer = allocate(bytes, alignment);
  if (pointer == nullptr) throw std::bad_alloc();
  return pointer;
}

constexpr std::size_t usual = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

}  // namespace

std::int64_t stagewise::allocations_so_far() { return counter(); }

// All forms for single objects are replaced together: memory that came from one of them must not be
// given back to the library's. The library's forms for arrays call these; AddressSanitizer's do
// not, and are not counted.
void* operator new(std::size_t bytes) { return allocate_or_throw(bytes, usual); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept { return allocate(bytes, usual); }
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t& /*tag*/) noexcept {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}

// NOLINTBEGIN(cppcoreguidelines-no-malloc): these are what RAII stands on.
void operator delete(void* pointer) noexcept { std::free(pointer); }
void operator delete(void* pointer, std::size_t /*bytes*/) noexcept { std::free(pointer); }
void operator delete(void* pointer, std::align_val_t /*alignment*/) noexcept { std::free(pointer); }
void operator delete(void* pointer, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  std::free(pointer);
}
// NOLINTEND(cppcoreguidelines-no-malloc)
