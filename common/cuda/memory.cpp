#include "cuda/memory.hpp"

#include <algorithm>

#include "cuda/check.hpp"
#include "cuda/device.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"
#include "tensor/tensor.hpp"

namespace stagewise::cuda {
namespace {

// CUDA on the CPU records which line requested memory; a GPU does not.
#ifdef CUDA_ON_CPU
cudaError_t malloc_device(void** pointer, std::size_t bytes, CodeLine asker) {
  return cudaMalloc(pointer, bytes, {asker.file, asker.line});
}
cudaError_t malloc_pinned(void** pointer, std::size_t bytes, CodeLine asker) {
  return cudaMallocHost(pointer, bytes, 0, {asker.file, asker.line});
}
#else
cudaError_t malloc_device(void** pointer, std::size_t bytes, CodeLine /*asker*/) { return cudaMalloc(pointer, bytes); }
cudaError_t malloc_pinned(void** pointer, std::size_t bytes, CodeLine /*asker*/) {
  return cudaMallocHost(pointer, bytes);
}
#endif

}  // namespace

void* DeviceMemory::allocate(std::size_t bytes, CodeLine asker) {
  void* pointer = nullptr;
  const cudaError_t status = malloc_device(&pointer, std::max<std::size_t>(bytes, 1), asker);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // the next check must not report it again
    std::size_t free = 0;
    std::size_t total = 0;
    CUDA_CHECK(cudaMemGetInfo(&free, &total));
    const std::string remedy = "; a smaller network or --batch-size needs less";
    if (runs_on_cpu() && bytes <= free) {
      throw Error("the host has too little memory: " + size_text(bytes) +
                  " more are needed, as CUDA on the CPU keeps a GPU's memory there" + remedy);
    }
    throw Error(std::string(runs_on_cpu() ? "the emulated GPU (STAGEWISE_CPU_DEVICE_MEMORY)" : "the GPU") +
                " has too little memory: " + size_text(bytes) + " more are needed, " + size_text(free) + " of " +
                size_text(total) + " are free" + remedy);
  }
  check(status, "cudaMalloc", __FILE__, __LINE__);
  return pointer;
}

void DeviceMemory::release(void* pointer) noexcept { cudaFree(pointer); }

Memory::Room DeviceMemory::room() const {
  std::size_t free = 0;
  std::size_t total = 0;
  CUDA_CHECK(cudaMemGetInfo(&free, &total));
  if (!runs_on_cpu()) return {free, "the GPU's memory"};
  const std::size_t of_host = available_host_memory();
  if (of_host < free) {
    return {of_host, "the host's memory, where CUDA on the CPU keeps a GPU's,"};
  }
  return {free, "the emulated GPU's memory (STAGEWISE_CPU_DEVICE_MEMORY)"};
}

void* PinnedMemory::allocate(std::size_t bytes, CodeLine asker) {
  void* pointer = nullptr;
  const cudaError_t status = malloc_pinned(&pointer, std::max<std::size_t>(bytes, 1), asker);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw Error("the host has too little memory that can be pinned: " + size_text(bytes) + " more are needed");
  }
  check(status, "cudaMallocHost", __FILE__, __LINE__);
  return pointer;
}

void PinnedMemory::release(void* pointer) noexcept { cudaFreeHost(pointer); }

Memory& device_memory() {
  static DeviceMemory memory;
  return memory;
}

Memory& pinned_memory() {
  static PinnedMemory memory;
  return memory;
}

}  // namespace stagewise::cuda
