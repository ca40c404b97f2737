/// @file
/// Memory of the GPU, and the host's memory that the GPU can copy from at full speed.
#pragma once

#include <string>

#include "tensor/tensor.hpp"

namespace stagewise::cuda {

/// The current GPU's memory. The host must not follow pointers into it.
/// Its allocations are aligned for vector loads of 16 bytes, on a GPU to 256 bytes.
class DeviceMemory final : public Memory {
 public:
  /// @throws Error naming how much was asked for and how much is free.
  void* allocate(std::size_t bytes, CodeLine asker) override;
  void release(void* pointer) noexcept override;
  /// Where kernels run on the CPU, no more than the host can give.
  Room room() const override;
};

/// Memory of the host that the system may not move or page out ("pinned"), so that the GPU fetches
/// it without help of the processor. There is little of it: it is for staging.
class PinnedMemory final : public Memory {
 public:
  /// @throws Error naming how much was asked for.
  void* allocate(std::size_t bytes, CodeLine asker) override;
  void release(void* pointer) noexcept override;
};

/// The process's own; it holds no state.
Memory& device_memory();

/// The process's own; it holds no state.
Memory& pinned_memory();

}  // namespace stagewise::cuda
