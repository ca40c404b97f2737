#include "tensor/tensor.hpp"

#include <new>
#include <string>

#include "tensor/counts.hpp"
#include "tensor/error.hpp"

namespace stagewise {
namespace {

/// One cache line, and the width of the widest vector register of today's processors.
constexpr std::align_val_t alignment{64};

class HostMemory final : public Memory {
 public:
  void* allocate(std::size_t bytes, CodeLine /*asker*/) override {
    void* pointer = ::operator new(bytes, alignment, std::nothrow);
    if (pointer == nullptr) {
      throw Error(
          "there is not enough memory: " + with_thousands(static_cast<std::int64_t>(bytes)) +
          " bytes were asked for and could not be had");
    }
    return pointer;
  }

  void release(void* pointer) noexcept override { ::operator delete(pointer, alignment); }
};

}  // namespace

Memory& host_memory() {
  static HostMemory memory;
  return memory;
}

}  // namespace stagewise
