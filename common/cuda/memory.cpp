#include "cuda/memory.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "cuda/check.hpp"
#include "cuda/device.hpp"
#include "tensor/error.hpp"

namespace stagewise::cuda {
namespace {

// CUDA on the CPU notes which line has asked for memory; a GPU does not.
#ifdef STAGEWISE_CUDA_ON_CPU
cudaError_t malloc_device(void** pointer, std::size_t bytes, CodeLine asker) {
  return cudaMalloc(pointer, bytes, asker.file, asker.line);
}
cudaError_t malloc_pinned(void** pointer, std::size_t bytes, CodeLine asker) {
  return cudaMallocHost(pointer, bytes, 0, asker.file, asker.line);
}
#else
cudaError_t malloc_device(void** pointer, std::size_t bytes, CodeLine /*asker*/) {
  return cudaMalloc(pointer, bytes);
}
cudaError_t malloc_pinned(void** pointer, std::size_t bytes, CodeLine /*asker*/) {
  return cudaMallocHost(pointer, bytes);
}
#endif

}  // namespace

std::string size_text(std::size_t bytes) {
  constexpr std::array units = {"B", "KB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < units.size()) {
    value /= 1000;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 || value >= 99.95 ? "%.0f %s" : "%.1f %s",
                value, units[unit]);
  return text.data();
}

void* DeviceMemory::allocate(std::size_t bytes, CodeLine asker) {
  void* pointer = nullptr;
  const cudaError_t status = malloc_device(&pointer, std::max<std::size_t>(bytes, 1), asker);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // the next check must not report it again
    std::size_t free = 0;
    std::size_t total = 0;
    CUDA_CHECK(cudaMemGetInfo(&free, &total));
    throw Error(
        std::string(runs_on_cpu() ? "the emulated GPU (STAGEWISE_CPU_DEVICE_MEMORY)" : "the GPU") +
        " has too little memory: " + size_text(bytes) + " more are needed, " + size_text(free) +
        " of " + size_text(total) +
        " are free; a smaller --batch-size or a smaller network needs less");
  }
  check(status, "cudaMalloc", __FILE__, __LINE__);
  return pointer;
}

void DeviceMemory::release(void* pointer) noexcept {
  cudaFree(pointer);
}

void* PinnedMemory::allocate(std::size_t bytes, CodeLine asker) {
  void* pointer = nullptr;
  const cudaError_t status = malloc_pinned(&pointer, std::max<std::size_t>(bytes, 1), asker);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw Error("the host has too little memory that can be pinned: " + size_text(bytes) +
                " more are needed; a smaller --batch-size needs less");
  }
  check(status, "cudaMallocHost", __FILE__, __LINE__);
  return pointer;
}

void PinnedMemory::release(void* pointer) noexcept {
  cudaFreeHost(pointer);
}

Memory& device_memory() {
  static DeviceMemory memory;
  return memory;
}

Memory& pinned_memory() {
  static PinnedMemory memory;
  return memory;
}

}  // namespace stagewise::cuda
