/// @file
/// Memory of the GPU, and host memory from which the GPU can copy at full speed.
#pragma once

#include <string>

#include "tensor/tensor.hpp"

namespace stagewise::cuda {

/// The current GPU's memory. The host must not follow pointers into it.
/// Its allocations are aligned for vector loads of 16 bytes, on a GPU to 256 bytes.
class DeviceMemory final : public Memory {
 public:
  /// @throws Error naming how much was requested and how much is free.
  void* allocate(std::size_t bytes, CodeLine asker) override;
  void release(void* pointer) noexcept override;
  /// If kernels run on the CPU, no more than the host has.
  Room room() const override;
};

/// Host memory that the system must not move or page out ("pinned"), so the GPU can copy from it
/// without the processor. It is a scarce resource, for staging.
class PinnedMemory final : public Memory {
 public:
  /// @throws Error naming how much was requested.
  void* allocate(std::size_t bytes, CodeLine asker) override;
  void release(void* pointer) noexcept override;
};

/// The process's own; it holds no state.
Memory& device_memory();

/// The process's own; it holds no state.
Memory& pinned_memory();

}  // namespace stagewise::cuda
