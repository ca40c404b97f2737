/// @file
/// One asynchronous copy from global to shared memory.
#pragma once

#include <cuda_pipeline_primitives.h>

namespace stagewise::shared_memory {

//! [copy_async]
/// Requests 4, 8 or 16 bytes, or as many zeros if `is_inside` is false. Both addresses are aligned.
///
/// CUDA's __pipeline_memcpy_async() does the same, but branches on the number of zeros, and keeps
/// the compiler from holding values in registers across it. Neither is needed, since the main loops
/// wait at barriers before they read what has been copied.
template <int bytes>
__device__ __forceinline__ void copy_async(void* to, const void* from, bool is_inside) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const auto place = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (bytes == 16) {  // bypasses the L1 cache
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(place), "l"(from),
                 "r"(is_inside ? bytes : 0));
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(place), "l"(from),
                 "n"(bytes), "r"(is_inside ? bytes : 0));
  }
#else
  __pipeline_memcpy_async(to, from, bytes, is_inside ? 0 : bytes);
#endif
}
//! [copy_async]

}  // namespace stagewise::shared_memory
