/// @file
/// What programs of compile.sh allocate and free: the linker is told to call what is here (--wrap).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>

#include <malloc.h>
#include <unistd.h>

#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/heap.hpp"
#include "cuda_on_cpu/host_memory.hpp"
#include "cuda_on_cpu/memory.hpp"

// NOLINTBEGIN(bugprone-reserved-identifier, cert-dcl37-c, cert-dcl51-cpp, readability-identifier-naming): the linker's
// and the C library's.
extern "C" {
void __libc_free(void* pointer);
void* __libc_realloc(void* pointer, std::size_t bytes);
}

namespace cuda_on_cpu {
namespace {

/// Memory of the heap, or else what the C library gives.
template <class Otherwise>
void* allocate(std::size_t bytes, std::size_t alignment, bool zero, const void* from, Otherwise otherwise) {
#ifdef CUDA_ON_CPU_ADDRESS_SANITIZER  // which knows the heap itself
  static_cast<void>(alignment);
  static_cast<void>(zero);
  static_cast<void>(from);
#else
  if (!runs_in_kernel()) {
    if (void* const found = heap().allocate(bytes, alignment, zero, remember(from))) return found;
  }
#endif
  static_cast<void>(bytes);
  return otherwise();
}

/// Ends the program because of what it frees.
[[noreturn]] void refuse_to_free(const char* how, const std::string& what, const void* from) {
  const Trace trace = trace_of(from);
  std::string place;
  for (std::size_t i = 0; i < trace.size() && trace[i] != 0 && place.empty(); ++i) {
    place = place_of_instruction(trace[i] - 1);
  }
  std::fflush(nullptr);
  report((place.empty() ? "" : place + ": ") + how + " was given " + what);
  _exit(1);
}

/// Refuses memory that CUDA gave.
void check_free(const char* how, const void* pointer, const void* from) {
  if (pointer == nullptr || runs_in_kernel()) return;
  const std::uintptr_t address = address_of(pointer);
  if (is_device_variable(address) || is_managed_variable(address)) {
    refuse_to_free(how, name_of_device_variable(address) + ", which stays.", from);
  }
  const std::optional<Allocation> found = find_allocation(address);
  if (!found || found->registered) return;
  const char* const kind = found->kind == MemoryKind::device ? "device"
                           : found->kind == MemoryKind::host ? "pinned"
                                                             : "managed";
  refuse_to_free(how,
                 kind + (" memory, " + describe_address(address)) + "; use " +
                     (found->kind == MemoryKind::host ? "cudaFreeHost()." : "cudaFree()."),
                 from);
}

/// The header of a block that may be freed; null if it is none of the heap.
Header* freeable(const char* how, void* pointer, const void* from) {
#ifdef CUDA_ON_CPU_ADDRESS_SANITIZER
  check_free(how, pointer, from);
  return nullptr;
#else
  if (!heap().has(address_of(pointer))) {
    check_free(how, pointer, from);
    return nullptr;
  }
  Header* const header = heap().header_of(address_of(pointer));
  if (header == nullptr || header + 1 != pointer)
    refuse_to_free(how, "an address within memory, not its beginning.", from);
  if (header->bytes == freed || header->from == nullptr)
    refuse_to_free(how, "memory that has been freed before.", from);
  return header;
#endif
}

/// Frees a block of the heap; says whether it is one.
bool release(const char* how, void* pointer, const void* from) {
  Header* const header = freeable(how, pointer, from);
  if (header != nullptr) heap().release(header);
  return header != nullptr;
}

/// Null if it is none of the heap.
void* reallocate(void* pointer, std::size_t bytes, const void* from, bool& is_ours) {
  Header* const header = pointer == nullptr ? nullptr : freeable("realloc()", pointer, from);
  is_ours = header != nullptr;
  if (!is_ours) return nullptr;
  if (bytes <= heap().room(header)) {
    header->bytes = bytes;
    return pointer;
  }
  void* const moved = allocate(bytes, 16, false, from, [=] { return std::malloc(bytes); });
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, pointer, std::min(bytes, header->bytes));
  heap().release(header);
  return moved;
}

}  // namespace
}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;  // NOLINT(google-build-using-namespace)

extern "C" {
#define CUDA_ON_CPU_FROM __builtin_return_address(0)
void* __wrap_malloc(std::size_t bytes) {
  return allocate(bytes, 16, false, CUDA_ON_CPU_FROM, [=] { return std::malloc(bytes); });
}
void* __wrap_calloc(std::size_t count, std::size_t bytes) {
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) return nullptr;
  return allocate(all, 16, true, CUDA_ON_CPU_FROM, [=] { return std::calloc(count, bytes); });
}
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return allocate(bytes, alignment, false, CUDA_ON_CPU_FROM, [=] { return std::aligned_alloc(alignment, bytes); });
}
int __wrap_posix_memalign(void** pointer, std::size_t alignment, std::size_t bytes) {
  int error = 0;
  void* const found = allocate(bytes, alignment, false, CUDA_ON_CPU_FROM, [&] {
    void* given = nullptr;
    error = posix_memalign(&given, alignment, bytes);
    return given;
  });
  if (error == 0) *pointer = found;
  return error;
}
char* __wrap_strdup(const char* text) {
  const std::size_t bytes = std::strlen(text) + 1;
  void* const copy = allocate(bytes, 16, false, CUDA_ON_CPU_FROM, [=] { return std::malloc(bytes); });
  return copy == nullptr ? nullptr : static_cast<char*>(std::memcpy(copy, text, bytes));
}
void* __wrap_realloc(void* pointer, std::size_t bytes) {
  if (pointer == nullptr) return allocate(bytes, 16, false, CUDA_ON_CPU_FROM, [=] { return std::malloc(bytes); });
  bool is_ours = false;
  void* const moved = reallocate(pointer, bytes, CUDA_ON_CPU_FROM, is_ours);
  return is_ours ? moved : std::realloc(pointer, bytes);
}
std::size_t __wrap_malloc_usable_size(void* pointer) {
  Header* const header = pointer == nullptr ? nullptr : freeable("malloc_usable_size()", pointer, CUDA_ON_CPU_FROM);
  return header != nullptr ? heap().room(header) : malloc_usable_size(pointer);
}
void __wrap_free(void* pointer) {
  if (!release("free()", pointer, CUDA_ON_CPU_FROM)) std::free(pointer);
}

// By the names that operator new and operator delete have for the linker.
#define CUDA_ON_CPU_NEW(name, call)                                                                \
  void* __wrap_##name(std::size_t bytes) {                                                         \
    return allocate(bytes, 16, false, CUDA_ON_CPU_FROM, [=] { return operator call(bytes); });     \
  }                                                                                                \
  void* __wrap_##name##RKSt9nothrow_t(std::size_t bytes, const std::nothrow_t& no) {               \
    return allocate(bytes, 16, false, CUDA_ON_CPU_FROM, [&] { return operator call(bytes, no); }); \
  }                                                                                                \
  void* __wrap_##name##St11align_val_t(std::size_t bytes, std::align_val_t alignment) {            \
    return allocate(bytes, static_cast<std::size_t>(alignment), false, CUDA_ON_CPU_FROM,           \
                    [=] { return operator call(bytes, alignment); });                              \
  }
CUDA_ON_CPU_NEW(_Znwm, new)
CUDA_ON_CPU_NEW(_Znam, new[])
#define CUDA_ON_CPU_DELETE(name, call)                                                                     \
  void __wrap_##name(void* pointer) {                                                                      \
    if (!release(#call, pointer, CUDA_ON_CPU_FROM)) operator call(pointer);                                \
  }                                                                                                        \
  void __wrap_##name##m(void* pointer, std::size_t /*bytes*/) {                                            \
    if (!release(#call, pointer, CUDA_ON_CPU_FROM)) operator call(pointer);                                \
  }                                                                                                        \
  void __wrap_##name##St11align_val_t(void* pointer, std::align_val_t alignment) {                         \
    if (!release(#call, pointer, CUDA_ON_CPU_FROM)) operator call(pointer, alignment);                     \
  }                                                                                                        \
  void __wrap_##name##mSt11align_val_t(void* pointer, std::size_t /*bytes*/, std::align_val_t alignment) { \
    if (!release(#call, pointer, CUDA_ON_CPU_FROM)) operator call(pointer, alignment);                     \
  }
CUDA_ON_CPU_DELETE(_ZdlPv, delete)
CUDA_ON_CPU_DELETE(_ZdaPv, delete[])

#ifndef CUDA_ON_CPU_ADDRESS_SANITIZER
/// What libraries free may be a block of the program's.
void free(void* pointer) noexcept {
  if (pointer == nullptr) return;
  if (!heap().has(address_of(pointer))) return __libc_free(pointer);
  static_cast<void>(release("free()", pointer, CUDA_ON_CPU_FROM));
}
/// What they make longer may be, too: getline() does that.
void* realloc(void* pointer, std::size_t bytes) noexcept {
  bool is_ours = false;
  if (pointer != nullptr && heap().has(address_of(pointer)))
    return reallocate(pointer, bytes, CUDA_ON_CPU_FROM, is_ours);
  return __libc_realloc(pointer, bytes);
}
#endif
}
// NOLINTEND(bugprone-reserved-identifier, cert-dcl37-c, cert-dcl51-cpp, readability-identifier-naming)
