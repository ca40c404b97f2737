/// @file
/// A multiplier for doubles: tensor cores.
#pragma once

#include "03_shared_memory/gemm/mma.cuh"

namespace stagewise::shared_memory {

//! [mma_double]
/// A warp's tile of WM x WN consists of products of 16 x 4 by 4 x 8, for which a lane has single
/// elements, one of every 4 x 8. A round is 4 steps; see multiplied_tile.cuh for what a multiplier
/// has.
template <typename Tiling, typename TileA, typename TileB>
class MmaDouble {
 public:
  static constexpr int down = Tiling::WM / 16;
  static constexpr int across = Tiling::WN / 8;
  static constexpr int rounds = Tiling::depth / 4;
  static constexpr int products = down * across;
  static constexpr int pairs = 2 * products;
  static_assert(Tiling::WM % 16 == 0 && Tiling::WN % 8 == 0 && Tiling::depth % 8 == 0);

  /// Loads this lane's elements of a round.
  __device__ __forceinline__ void load(int round, const double* a, const double* b) {
    const int step = Tiling::slice() * Tiling::depth + round % rounds * 4 + t();
#pragma unroll
    for (int i = 0; i < 2 * down; ++i) {
      a_[round % 2][i] = a[TileA::index(Tiling::warp_row() + i * 8 + g(), step)];
    }
#pragma unroll
    for (int j = 0; j < across; ++j) {
      b_[round % 2][j] = b[TileB::index(Tiling::warp_column() + j * 8 + g(), step)];
    }
  }

  /// Multiplies what was loaded for a round.
  template <typename Before>
  __device__ __forceinline__ void multiply(int round, const Before& before) {
#pragma unroll
    for (int i = 0; i < products; ++i) {
      before(i);
      const double* const a = a_[round % 2] + i / across * 2;
      mma_16x8x4(sums_[i], a[0], a[1], b_[round % 2][i % across]);
    }
  }

  /// Each of `pairs` has two sums that are neighbours in C: this is one of them, `which` is 0 or 1.
  __device__ double& sum(int pair, int which) {
    return sums_[pair / 2][pair % 2 * 2 + which];
  }

  /// The row of a pair in the block's tile.
  static __device__ int row(int pair) {
    return Tiling::warp_row() + pair / 2 / across * 16 + pair % 2 * 8 + g();
  }
  /// The column of its first sum.
  static __device__ int column(int pair) {
    return Tiling::warp_column() + pair / 2 % across * 8 + t() * 2;
  }

 private:
  static __device__ int g() {
    return static_cast<int>(threadIdx.x % 32 / 4);
  }
  static __device__ int t() {
    return static_cast<int>(threadIdx.x % 4);
  }

  double a_[2][2 * down];
  double b_[2][across];
  double sums_[products][4] = {};
};
//! [mma_double]

}  // namespace stagewise::shared_memory
