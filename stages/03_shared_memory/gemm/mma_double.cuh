/// @file
/// A multiplier for doubles: tensor cores.
#pragma once

#include "03_shared_memory/gemm/mma.cuh"
#include "03_shared_memory/gemm/mma_sums.cuh"

namespace stagewise::shared_memory {

//! [mma_double]
/// A warp's tile of WM x WN consists of products of 16 x 4 by 4 x 8, for which a lane has single
/// elements, one of every 4 x 8. A round is 4 steps; see multiplied_tile.cuh for what a multiplier
/// has.
template <typename Tiling, typename TileA, typename TileB>
class MmaDouble : public MmaSums<double, Tiling> {
 public:
  using Sums = MmaSums<double, Tiling>;
  using Sums::across;
  using Sums::down;
  using Sums::products;
  static constexpr int rounds = Tiling::depth / 4;
  static_assert(Tiling::depth % 8 == 0, "two sets of registers");

  /// Loads this lane's elements of a round.
  __device__ __forceinline__ void load(int round, const double* a, const double* b) {
    const int step = Tiling::slice() * Tiling::depth + round % rounds * 4 + Sums::t();
#pragma unroll
    for (int i = 0; i < 2 * down; ++i) {
      a_[round % 2][i] = a[TileA::index(Tiling::warp_row() + i * 8 + Sums::g(), step)];
    }
#pragma unroll
    for (int j = 0; j < across; ++j) {
      b_[round % 2][j] = b[TileB::index(Tiling::warp_column() + j * 8 + Sums::g(), step)];
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
