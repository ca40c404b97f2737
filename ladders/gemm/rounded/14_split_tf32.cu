/// @file
/// GEMM, rung 14: floats as the sums of two TF32 numbers (3xTF32).
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
/// Over a long k, that adds up. So the products of a round start at zero, small ones first, and an
/// fp32 unit adds their sum to the others. Rounds of 16 steps, where registers allow them, halve
/// these additions.
///
/// Run it: `ladder gemm --rung 3xtf32`, and with `--tiles` each of its tiles.
/// Work: 6 m n k operations on tensor cores, m n k / 8 or / 16 additions on fp32 units; the rest as
/// rung 15.
/// Measured on an H200, 800 x 1000 x 784: 30 us in float.

#include <algorithm>
#include <array>

#include "03_shared_memory/gemm/gemm_table.cuh"
#include "ladders/gemm/rounded/mma_tf32.cuh"
#include "ladders/gemm/rungs.hpp"

namespace stagewise::shared_memory {

//! [split_tf32]
/// See mma_rounded.cuh.
template <int steps_>
struct SplitTf32 {
  static constexpr int steps = steps_;
  static constexpr int pairs = steps / 8;

  struct Factor {
    unsigned high[pairs][2];
    unsigned low[pairs][2];
  };

  /// Splits as Veltkamp does: 8193 x is rounded to a multiple of at least 2^13 of x's last bits,
  /// and so is what remains without 8192 x, the high part. Numbers above 4e34 overflow to NaN.
  static __device__ __forceinline__ Factor factor(const float* numbers) {
    Factor parts;
#pragma unroll
    for (int i = 0; i < 2 * pairs; ++i) {
      const float shifted = numbers[i] * 8193;
      const float high = __fmaf_rn(numbers[i], -8192, shifted);
      parts.high[i / 2][i % 2] = __float_as_uint(high);
      parts.low[i / 2][i % 2] = __float_as_uint(numbers[i] - high);
    }
    return parts;
  }

  /// sums += A B, 16 x 8 by 8 x 8, once or twice.
  static __device__ __forceinline__ void multiply(float (&sums)[4], const Factor& upper, const Factor& lower,
                                                  const Factor& b) {
    float products[4] = {};
#pragma unroll
    for (int i = 0; i < pairs; ++i) {
      mma_tf32(products, upper.low[i], lower.low[i], b.high[i]);
      mma_tf32(products, upper.high[i], lower.high[i], b.low[i]);
    }
#pragma unroll
    for (int i = 0; i < pairs; ++i) mma_tf32(products, upper.high[i], lower.high[i], b.high[i]);
#pragma unroll
    for (int i = 0; i < 4; ++i) sums[i] += products[i];
  }
};
//! [split_tf32]

template <typename Tile, typename TileA, typename TileB>
using MmaSplitTf32 = MmaRounded<SplitTf32<8>, Tile, TileA, TileB>;

template <typename Tile, typename TileA, typename TileB>
using MmaLongSplitTf32 = MmaRounded<SplitTf32<16>, Tile, TileA, TileB>;

namespace {

using LongTable = TileTable<MmaLongSplitTf32, TwiceRatedTile<107, 107, 128, 64, 32, 64, 32, 1, 3, 2>>;
using Table = TileTable<
    MmaSplitTf32,
    // the rates, BM, BN, BK, WM, WN, slice-k, buffers, blocks
    TwiceRatedTile<116, 114, 96, 96, 32, 48, 48, 2, 3, 1>, TwiceRatedTile<92, 94, 64, 104, 32, 16, 104, 2, 3, 1>,
    TwiceRatedTile<117, 119, 64, 64, 32, 32, 32, 1, 3, 2>, TwiceRatedTile<93, 93, 32, 32, 64, 32, 32, 4, 3, 2>>;

void multiply_split(cudaStream_t stream, const GemmProblem<float>& p, std::size_t tile, int split_k,
                    Workspace& workspace) {
  constexpr std::size_t count = LongTable::tiles<float>.size();
  if (tile < count) return multiply_with<LongTable>(stream, p, tile, split_k, workspace);
  multiply_with<Table>(stream, p, tile - count, split_k, workspace);
}

}  // namespace

GemmTiles<float> split_tf32_tiles() {
  static constexpr auto tiles = [] {
    constexpr auto& first = LongTable::tiles<float>;
    constexpr auto& others = Table::tiles<float>;
    std::array<TileInfo, first.size() + others.size()> all = {};
    std::copy(others.begin(), others.end(), std::copy(first.begin(), first.end(), all.begin()));
    return all;
  }();
  return {tiles, multiply_split};
}

}  // namespace stagewise::shared_memory
