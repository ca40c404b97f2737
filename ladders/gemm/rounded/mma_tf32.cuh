/// @file
/// Tensor cores that multiply TF32, floats of which only 10 bits of fraction count, and an Mma for
/// floats that are rounded to it.
#pragma once

#include <mma.h>

#include "ladders/gemm/rounded/mma_rounded.cuh"

namespace stagewise::shared_memory {

//! [mma_tf32]
/// sums += A B, 16 x 8 by 8 x 8, for all lanes of the warp together. The unit ignores the lowest 13
/// bits of a float. `upper` are the elements (g, t) and (g, t + 4) of A, `lower` those 8 rows
/// below, `b` the elements (t, g) and (t + 4, g): see the PTX ISA on `mma.m16n8k8` with `.tf32`.
__device__ __forceinline__ void mma_tf32(float (&sums)[4], const unsigned (&upper)[2], const unsigned (&lower)[2],
                                         const unsigned (&b)[2]) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(upper[0]), "r"(lower[0]), "r"(upper[1]), "r"(lower[1]), "r"(b[0]), "r"(b[1]));
#else  // a program for older GPUs only fails on this one, rather than leave everything at zero
  __trap();
#endif
}
//! [mma_tf32]

//! [tf32]
/// See mma_rounded.cuh.
struct Tf32 {
  static constexpr int steps = 8;

  struct Factor {
    unsigned bits[2];
  };

  /// Rounds to the nearest.
  static __device__ __forceinline__ Factor factor(const float* numbers) {
    return {{__float_as_uint(nvcuda::wmma::__float_to_tf32(numbers[0])),
             __float_as_uint(nvcuda::wmma::__float_to_tf32(numbers[1]))}};
  }

  /// sums += A B, 16 x 8 by 8 x 8.
  static __device__ __forceinline__ void multiply(float (&sums)[4], const Factor& upper, const Factor& lower,
                                                  const Factor& b) {
    mma_tf32(sums, upper.bits, lower.bits, b.bits);
  }
};
//! [tf32]

template <typename Tile, typename TileA, typename TileB>
using MmaTf32 = MmaRounded<Tf32, Tile, TileA, TileB>;

}  // namespace stagewise::shared_memory
