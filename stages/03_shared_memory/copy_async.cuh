/// @file
/// One asynchronous copy from global to shared memory.
#pragma once

#include <cuda_pipeline_primitives.h>

namespace stagewise::shared_memory {

//! [copy_async]
/// Requests 4, 8 or 16 bytes, or as many zeros if `is_inside` is false. Both addresses are aligned.
/// The copy goes to `offset` bytes behind `to`; a constant one becomes part of the instruction.
///
/// CUDA's __pipeline_memcpy_async() does the same, but branches on the number of zeros, and keeps
/// the compiler from holding values in registers across it. Neither is needed, since callers wait
/// at barriers before they read what has been copied.
template <int bytes>
__device__ __forceinline__ void copy_async(void* to, const void* from, bool is_inside,
                                           int offset = 0) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (bytes == 16) {  // bypasses the L1 cache
    asm volatile(
        "{.reg .u32 there; add.u32 there, %0, %3; cp.async.cg.shared.global [there], [%1], 16, "
        "%2;}" ::"r"(address),
        "l"(from), "r"(is_inside ? bytes : 0), "r"(offset));
  } else {
    asm volatile(
        "{.reg .u32 there; add.u32 there, %0, %4; cp.async.ca.shared.global [there], [%1], %2, "
        "%3;}" ::"r"(address),
        "l"(from), "n"(bytes), "r"(is_inside ? bytes : 0), "r"(offset));
  }
#else
  __pipeline_memcpy_async(static_cast<char*>(to) + offset, from, bytes, is_inside ? 0 : bytes);
#endif
}
//! [copy_async]

}  // namespace stagewise::shared_memory
