/// @file
/// Tensor cores: where their sums are, in every precision, and an Mma for doubles.
#pragma once

#include <cuda_runtime.h>

#include "03_shared_memory/warp.cuh"

namespace stagewise::shared_memory {

//! [mma_sums]
/// A warp's tile of WM x WN, made of tiles of 16 x 8, one of an instruction each. With g = lane / 4
/// and t = lane % 4, a lane has the sums (g, 2t), (g, 2t + 1), (g + 8, 2t) and (g + 8, 2t + 1) of
/// each: the same in every precision. See tiles.cuh for the names.
template <typename T, typename Tile>
class MmaSums {
 public:
  static constexpr int down = Tile::WM / 16;
  static constexpr int across = Tile::WN / 8;
  static constexpr int products = down * across;
  static constexpr int sums = 4 * products;
  static constexpr int neighbours = 2;
  static constexpr int rows = 2 * down;
  static constexpr int groups = across;
  static_assert(Tile::WM % 16 == 0 && Tile::WN % 8 == 0);

  /// Sum number `i`.
  __device__ T& sum(int i) { return sums_[i / 4][i % 4]; }

  /// The first sum of a row's group.
  static __device__ constexpr int first_sum(int row, int group) {
    return (row / 2 * across + group) * 4 + row % 2 * 2;
  }

  /// Its row in the block's tile.
  static __device__ int row(int i) {
    return Tile::warp_row() + i / 4 / across * 16 + i % 4 / 2 * 8 + g();
  }
  /// Its column.
  static __device__ int column(int i) {
    return Tile::warp_column() + i / 4 % across * 8 + t() * 2 + i % 2;
  }

 protected:
  /// See above.
  static __device__ int g() { return static_cast<int>(threadIdx.x % 32 / 4); }
  /// See above.
  static __device__ int t() { return static_cast<int>(threadIdx.x % 4); }

  T sums_[products][4] = {};
};
//! [mma_sums]

//! [mma]
/// sums += A B, 16 x 4 by 4 x 8, for all lanes of the warp together.
///
/// The factors and the sums are in the registers of the 32 lanes. With g = lane / 4 and t = lane %
/// 4, a lane has the elements (g, t) and (g + 8, t) of A, the element (t, g) of B, and the sums (g,
/// 2t), (g, 2t + 1), (g + 8, 2t) and (g + 8, 2t + 1): see the PTX ISA on `mma.m16n8k4` with `.f64`.
/// The unit adds the four products in ascending order, like a chain of fused multiply-adds, so a
/// sum over all of k by one warp has the same bits as in the ladder's rungs.
__device__ __forceinline__ void mma_16x8x4(double (&sums)[4], double a_upper, double a_lower,
                                           double b) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile(
      "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
      "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+d"(sums[0]), "+d"(sums[1]), "+d"(sums[2]), "+d"(sums[3])
      : "d"(a_upper), "d"(a_lower), "d"(b));
#elif __CUDA_ARCH__ >= 800  // earlier units have only an instruction for half of the rows
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(sums[0]), "+d"(sums[1])
               : "d"(a_upper), "d"(b));
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(sums[2]), "+d"(sums[3])
               : "d"(a_lower), "d"(b));
#else
  // Units that multiply doubles are missing: lanes fetch each other's numbers and do without.
  const auto lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const double upper = __shfl_sync(all_lanes, a_upper, lane / 4 * 4 + k);
    const double lower = __shfl_sync(all_lanes, a_lower, lane / 4 * 4 + k);
#pragma unroll
    for (int column = 0; column < 2; ++column) {
      const double right = __shfl_sync(all_lanes, b, (lane % 4 * 2 + column) * 4 + k);
      sums[column] += upper * right;
      sums[2 + column] += lower * right;
    }
  }
#endif
}
//! [mma]

//! [mma_double]
/// A warp's tile of WM x WN consists of products of 16 x 4 by 4 x 8, for which a lane has single
/// elements, one of every 4 x 8. A round is 4 steps; see tiles.cuh for what an Mma has.
template <typename Tile, typename TileA, typename TileB>
class MmaDouble : public MmaSums<double, Tile> {
 public:
  using Sums = MmaSums<double, Tile>;
  using Sums::across;
  using Sums::down;
  using Sums::products;
  static constexpr int rounds = Tile::depth / 4;
  static_assert(Tile::depth % 8 == 0, "two sets of registers");

  /// Loads this lane's elements of a round. With A's first, 800 x 1000 x 784 takes 26.5 us instead
  /// of 26.1 (benchmarks/results/h200_one_loop.md); why was not found.
  __device__ __forceinline__ void load(int round, const double* a, const double* b) {
    const int step = Tile::slice() * Tile::depth + round % rounds * 4 + Sums::t();
#pragma unroll
    for (int j = 0; j < across; ++j) {
      b_[round % 2][j] = b[TileB::index(Tile::warp_column() + j * 8 + Sums::g(), step)];
    }
#pragma unroll
    for (int i = 0; i < 2 * down; ++i) {
      a_[round % 2][i] = a[TileA::index(Tile::warp_row() + i * 8 + Sums::g(), step)];
    }
  }

  /// Multiplies what was loaded for a round.
  __device__ __forceinline__ void multiply(int round) {
#pragma unroll
    for (int i = 0; i < products; ++i) {
      const double* const a = a_[round % 2] + i / across * 2;
      mma_16x8x4(this->sums_[i], a[0], a[1], b_[round % 2][i % across]);
    }
  }

 private:
  double a_[2][2 * down];
  double b_[2][across];
};
//! [mma_double]

}  // namespace stagewise::shared_memory
