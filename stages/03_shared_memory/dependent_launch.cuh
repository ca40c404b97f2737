/// @file
/// Programmatic dependent launch: a kernel is there before the one before it has ended.
///
/// Usually, a kernel is launched when all blocks of the one before have ended and all that they
/// wrote has arrived. To launch it, that is to hand out its blocks, to start their warps and to
/// fetch their first instructions, takes a good part of a microsecond, in which nothing else
/// happens. Since compute capability 9.0, a kernel may allow the next one to be launched while it
/// still runs, and the next one then waits by itself, at the place where it first needs what was
/// computed before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <cuda_runtime.h>

#include "cuda/launch.cuh"

namespace stagewise::shared_memory {

/// When a kernel of a stream is launched.
enum class Start : std::uint8_t {
  in_order,  ///< when the kernel before has ended
  early      ///< while it still runs, where it and the GPU allow that
};

/// What a kernel reads. For one that starts early it is not `__restrict__`: until it has waited,
/// the kernel before may write there, and the compiler must not move a read before the wait.
template <Start start, typename T>
using Input = std::conditional_t<start == Start::early, const T*, const T* __restrict__>;

//! [dependent_launch]
/// Allows the next kernel to be launched early, and waits until the one before has ended. Kernels
/// that start early call this before they read or write any memory that others use.
__device__ inline void wait_for_kernel_before() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
#endif
}

/// The same in the other order: the next kernel is there only when the one before has ended, and
/// with it, if all kernels call one of these two, whatever came before. So the next one may read at
/// once what neither the kernel before it nor that before writes.
__device__ inline void wait_and_let_next_start() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// The compute capability whose instructions a kernel may use: what it was compiled for.
template <typename... Parameters>
int compiled_for(void (*kernel)(Parameters...)) {
  cudaFuncAttributes attributes = {};
  CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
  return attributes.ptxVersion;
}

//! [spread_blocks]
/// How much dynamic shared memory, at least `bytes`, a block has to ask for so that all
/// multiprocessors get the same number of blocks, or nearly, even if they start early.
///
/// Blocks that are there early get whatever room the kernel before leaves, and the others crowd
/// where it ends first: three on one multiprocessor and one on another, where all could have two.
/// If each asks for a little more than a third of the memory, no more than two fit, and the rest is
/// left for other kernels.
/// @param besides of shared memory that a block has without asking: see allow_shared_memory().
inline int bytes_to_spread(Index besides, Index blocks, int bytes) {
  if (cuda::runs_on_cpu()) return bytes;
  constexpr Index reserved = 1024;  // of each block, for the runtime
  const Index most = cuda::pieces(blocks, cuda::multiprocessors());
  const Index all = cuda::shared_memory_per_block() + reserved;
  constexpr Index unit = 128;
  const Index share = (all / (most + 1) / unit + 1) * unit;
  return static_cast<int>(std::max<Index>(bytes, share - reserved - besides));
}

/// Lets a kernel use all the dynamic shared memory that a block can have: more than the 48 KiB that
/// any kernel may use.
/// @return the bytes of shared memory that a block has besides.
template <typename... Parameters>
Index allow_shared_memory(void (*kernel)(Parameters...)) {
  cudaFuncAttributes attributes = {};
  CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
  const auto besides = static_cast<Index>(attributes.sharedSizeBytes);
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(cuda::shared_memory_per_block() - besides)));
  return besides;
}
//! [spread_blocks]

/// A launch but for its arguments.
struct LaunchShape {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;  ///< of dynamic shared memory
};

/// Whether a kernel is launched early where it is to be: it was compiled for a GPU that can do so.
/// @tparam kernel a template argument, since what was found out is remembered for each kernel;
///         several may have parameters of the same types.
template <Start start, auto kernel>
bool starts_early() {
  static const bool result = start == Start::early && compiled_for(kernel) >= 90;
  return result;
}

/// Launches a kernel; `name`, in quotes, is for errors.
template <Start start, auto kernel, typename... Arguments>
void launch(const char* name, const LaunchShape& shape, cudaStream_t stream,
            const Arguments&... arguments) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = starts_early<start, kernel>() ? 1 : 0;
  CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, arguments...));
  CUDA_CHECK_LAUNCH(name);
}
//! [dependent_launch]

}  // namespace stagewise::shared_memory
