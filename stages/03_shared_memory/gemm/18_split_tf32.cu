/// @file
/// GEMM, rung 18: floats as the sums of two TF32 numbers (3xTF32).
///
/// A float has 23 bits of fraction, and TF32 has 10 of them. What rounding leaves is a small float,
/// and nearly all of it fits into another TF32 number: a = a_high + a_low. So
///
///     a b = a_high b_high + a_high b_low + a_low b_high + a_low b_low,
///
/// and the last product is too small to count. Three instructions instead of one bring back nearly
/// all that rounding has taken, and are still faster than the fp32 units.
///
/// One more thing is needed: the unit adds with fewer bits than a float has, and cuts the rest off.
/// Over a long k, that adds up. So the three products start at zero, small ones first, and an fp32
/// unit adds their sum to the others.
///
/// Run it: `ladder gemm --rung 3xtf32`, and with `--tiles` each of its tiles.
/// Work: 6 m n k operations on tensor cores, 2 m n k / 8 on fp32 units; the rest as rung 16.

#include <array>

#include "03_shared_memory/gemm/mma_rounded.cuh"
#include "03_shared_memory/gemm/planned_tiles.cuh"
#include "03_shared_memory/gemm/rungs.hpp"
#include "03_shared_memory/gemm/tf32.cuh"

namespace stagewise::shared_memory {

//! [split_tf32]
/// See mma_rounded.cuh.
struct SplitTf32 {
  static constexpr int steps = 8;
  static constexpr double rate = 133;  ///< multiply-adds of floats per cycle

  struct Factor {
    unsigned high[2];
    unsigned low[2];
  };

  static __device__ __forceinline__ Factor factor(const float* numbers) {
    Factor parts;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const float shifted = numbers[i] * 8193;
      const float high = __fmaf_rn(numbers[i], -8192, shifted);
      parts.high[i] = __float_as_uint(high);
      parts.low[i] = __float_as_uint(numbers[i] - high);
    }
    return parts;
  }

  static __device__ __forceinline__ void multiply(float (&sums)[4], const Factor& upper,
                                                  const Factor& lower, const Factor& b) {
    float products[4] = {};
    mma_tf32(products, upper.low, lower.low, b.high);
    mma_tf32(products, upper.high, lower.high, b.low);
    mma_tf32(products, upper.high, lower.high, b.high);
#pragma unroll
    for (int i = 0; i < 4; ++i) sums[i] += products[i];
  }
};
//! [split_tf32]

template <typename Tiling, typename TileA, typename TileB>
using MmaSplitTf32 = MmaRounded<SplitTf32, Tiling, TileA, TileB>;

namespace {

template <int... numbers>
constexpr FittedTile<float> tile() {
  return fitted_tile<MmaSplitTf32, float, numbers...>(SplitTf32::rate);
}

constexpr auto tilings = std::to_array<FittedTile<float>>({
    //   BM, BN, BK, WM, WN, slices, stages, blocks
    tile<128, 128, 32, 64, 32, 1, 3, 1>(),
    tile<64, 104, 32, 16, 104, 2, 3, 1>(),
    tile<64, 64, 32, 32, 32, 1, 3, 2>(),
    tile<32, 32, 64, 32, 32, 4, 3, 2>(),
});

}  // namespace

std::span<const FittedTile<float>> split_tf32_tiles() {
  return tilings;
}

}  // namespace stagewise::shared_memory
