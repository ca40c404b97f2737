/// @file
/// CUDA on the CPU: found instead of NVIDIA's header of this name where there is no CUDA toolkit.
/// The other headers of this folder have the names and the parts that they have in the toolkit.
#pragma once

/// Tells CUDA on the CPU from nvcc, which defines __CUDACC__.
#define CUDA_ON_CPU 1

#include "cuda_on_cpu/qualifiers.h"

#include "vector_types.h"
#include "driver_types.h"
#include "cuda_runtime_api.h"
#include "cuda_on_cpu/kernel.hpp"
#include "device_functions.h"
#include "cuda_on_cpu/matrix_registers.h"

// Kernels as values in the runtime API: launches without <<<>>>, attributes, occupancy.
//
// A kernel is run with arguments of its own types, which its address does not tell. They are noted
// wherever the kernel itself stands in a call or, by the translator, in a cast to void*.

namespace cuda_on_cpu {

/// Makes a call of a kernel and the untyped pointers to its arguments. The caller owns it.
using Binder = const KernelCall* (*)(const void* kernel, void** arguments);
/// From now on the kernel can be launched by its address.
void note_kernel(const void* kernel, Binder binder);

template <class... Parameters, std::size_t... index>
const KernelCall* bind_call(void (*kernel)(Parameters...), [[maybe_unused]] void** arguments,
                            std::index_sequence<index...> /*indices*/) {
  using Call = BoundKernel<void (*)(Parameters...), Held<Parameters>...>;
  return new Call(kernel, std::tuple<Held<Parameters>...>(*static_cast<Held<Parameters>*>(arguments[index])...));
}

/// The address of a kernel that can be launched by it.
template <class... Parameters>
void* untyped(void (*kernel)(Parameters...)) {
  void* const address = reinterpret_cast<void*>(kernel);
  note_kernel(address, [](const void* noted, void** arguments) {
    return bind_call(reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(noted)), arguments,
                     std::index_sequence_for<Parameters...>());
  });
  return address;
}
/// An address is one already.
inline const void* untyped(const void* kernel) { return kernel; }
/// A kernel of any type, or its address.
struct KernelAddress {
  template <class Kernel>
  KernelAddress(Kernel* kernel) : address(reinterpret_cast<const void*>(kernel)) {}

  const void* address;
};
/// cudaLaunchKernel() and its relatives.
cudaError_t launch_by_address(const char* call, const void* kernel, const LaunchConfiguration& configuration,
                              void** arguments, Place place);
/// A launch's attributes; those that only make it faster are left out.
cudaError_t heed_attributes(const cudaLaunchConfig_t& config, LaunchConfiguration& configuration);

/// The block size with which the most threads are resident at the same time, the larger if several
/// are. `shared` says how much dynamic shared memory a block size takes.
template <class Shared>
cudaError_t best_block_size(int* grid, int* block, Shared shared, int limit) {
  *grid = *block = 0;
  int most = 0;
  for (int size = limit > 0 && limit < 1024 ? limit : 1024; size > 0; size = (size - 1) / 32 * 32) {
    int blocks = 0;
    const cudaError_t error = occupancy(&blocks, size, static_cast<std::size_t>(shared(size)));
    if (error != cudaSuccess) return error;
    if (blocks * size <= most) continue;
    most = blocks * size;
    *block = size;
    *grid = blocks;
  }
  int multiprocessors = 0;
  const cudaError_t error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  *grid *= multiprocessors;
  return error;
}

}  // namespace cuda_on_cpu

// Launches. The kernel itself, or its address.
template <class Kernel>
cudaError_t cudaLaunchKernel(Kernel* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared = 0,
                             cudaStream_t stream = nullptr, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::launch_by_address("cudaLaunchKernel()", cuda_on_cpu::untyped(kernel),
                                        {grid, block, shared, stream}, arguments, place);
}
template <class Kernel>
cudaError_t cudaLaunchCooperativeKernel(Kernel* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared = 0,
                                        cudaStream_t stream = nullptr, CUDA_ON_CPU_HERE) {
  cuda_on_cpu::LaunchConfiguration configuration(grid, block, shared, stream);
  configuration.cooperative = true;
  return cuda_on_cpu::launch_by_address("cudaLaunchCooperativeKernel()", cuda_on_cpu::untyped(kernel), configuration,
                                        arguments, place);
}

/// The arguments by untyped pointers.
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void** arguments,
                                CUDA_ON_CPU_HERE);

/// Where it was called cannot be told, since the arguments come last.
template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  namespace runtime = cuda_on_cpu;
  runtime::LaunchConfiguration configuration(config->gridDim, config->blockDim, config->dynamicSmemBytes,
                                             config->stream);
  const cudaError_t error = runtime::heed_attributes(*config, configuration);
  if (error != cudaSuccess) return error;
  const runtime::BoundKernel<void (*)(Parameters...), runtime::Held<Parameters>...> call(
      kernel, std::tuple<runtime::Held<Parameters>...>(std::forward<Arguments>(arguments)...));
  return runtime::launch(runtime::function_name(reinterpret_cast<const void*>(kernel)), configuration, {nullptr, 0},
                         call);
}

// Attributes, and occupancy by threads and dynamic shared memory: registers are not counted here.
cudaError_t cudaFuncSetAttribute(cuda_on_cpu::KernelAddress kernel, cudaFuncAttribute attribute, int value);
cudaError_t cudaFuncSetCacheConfig(cuda_on_cpu::KernelAddress kernel, cudaFuncCache config);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, cuda_on_cpu::KernelAddress kernel);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, cuda_on_cpu::KernelAddress kernel, int threads,
                                                          std::size_t shared);
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* shared, cuda_on_cpu::KernelAddress kernel,
                                                      int blocks, int threads);
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, cuda_on_cpu::KernelAddress /*kernel*/,
                                                      std::size_t shared = 0, int limit = 0) {
  return cuda_on_cpu::best_block_size(
      grid, block, [shared](int /*size*/) { return shared; }, limit);
}
template <class Shared>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, cuda_on_cpu::KernelAddress /*kernel*/,
                                                           Shared shared, int limit = 0) {
  return cuda_on_cpu::best_block_size(grid, block, shared, limit);
}
