#include "tensor/tensor.hpp"

#include <new>

#include "tensor/counts.hpp"
#include "tensor/error.hpp"
#include "tensor/host_memory.hpp"

namespace stagewise {
namespace {

/// One cache line, and the width of the widest vector register of today's processors.
constexpr std::align_val_t alignment{64};

class HostMemory final : public Memory {
 public:
  void* allocate(std::size_t bytes, CodeLine /*asker*/) override {
    void* pointer = ::operator new(bytes, alignment, std::nothrow);
    if (pointer == nullptr) {
      throw Error("the host has too little memory: " + size_text(bytes) +
                  " more are needed; a smaller network or --batch-size needs less");
    }
    return pointer;
  }

  void release(void* pointer) noexcept override { ::operator delete(pointer, alignment); }

  Room room() const override { return {available_host_memory(), "the host's memory"}; }
};

}  // namespace

Memory& host_memory() {
  static HostMemory memory;
  return memory;
}

}  // namespace stagewise
