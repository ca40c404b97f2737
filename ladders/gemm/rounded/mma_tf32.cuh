/// @file
/// An Mma for floats that are rounded to TF32.
#pragma once

#include <mma.h>

#include "ladders/gemm/rounded/mma_rounded.cuh"
#include "ladders/gemm/rounded/tf32.cuh"

namespace stagewise::shared_memory {

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
  static __device__ __forceinline__ void multiply(float (&sums)[4], const Factor& upper,
                                                  const Factor& lower, const Factor& b) {
    mma_tf32(sums, upper.bits, lower.bits, b.bits);
  }
};
//! [tf32]

template <typename Tile, typename TileA, typename TileB>
using MmaTf32 = MmaRounded<Tf32, Tile, TileA, TileB>;

}  // namespace stagewise::shared_memory
