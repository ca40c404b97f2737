/// @file
/// A multiplier for floats that tensor cores round before they multiply.
#pragma once

#include "03_shared_memory/gemm/mma_sums.cuh"

namespace stagewise::shared_memory {

//! [mma_rounded]
/// What an instruction takes differs by precision, so it is a type, `Unit`, that has
///
///     static constexpr int steps;  // of an instruction
///     struct Factor;               // a lane's steps / 4 numbers of a place, in registers
///     static Factor factor(const float* numbers);
///     static void multiply(float (&sums)[4], Factor upper, Factor lower, Factor b);
///
/// A round is one instruction for each 16 x 8 of the warp's tile; see multiplied_tile.cuh for what
/// a multiplier has. Lane t has the steps t, t + 4, t + 8, ... of a round. Where the instruction
/// has them in another order, that is no matter: they are the same in both factors.
template <typename Unit, typename Tiling, typename TileA, typename TileB>
class MmaRounded : public MmaSums<float, Tiling> {
 public:
  using Sums = MmaSums<float, Tiling>;
  using Sums::across;
  using Sums::down;
  static constexpr int rounds = Tiling::depth / Unit::steps;
  static_assert(Tiling::depth % (2 * Unit::steps) == 0, "two sets of registers");

  /// Loads this lane's elements of a round.
  __device__ __forceinline__ void load(int round, const float* a, const float* b) {
    const int step = Tiling::slice() * Tiling::depth + round % rounds * Unit::steps + Sums::t();
    load_places<TileA>(a_[round % 2], a, Tiling::warp_row() + Sums::g(), step);
    load_places<TileB>(b_[round % 2], b, Tiling::warp_column() + Sums::g(), step);
  }

  /// Rounds what was loaded for a round, and multiplies it.
  __device__ __forceinline__ void multiply(int round) {
    typename Unit::Factor a[2 * down];
#pragma unroll
    for (int i = 0; i < 2 * down; ++i) a[i] = Unit::factor(a_[round % 2][i]);
#pragma unroll
    for (int j = 0; j < across; ++j) {
      const typename Unit::Factor b = Unit::factor(b_[round % 2][j]);
#pragma unroll
      for (int i = 0; i < down; ++i) {
        Unit::multiply(this->sums_[i * across + j], a[2 * i], a[2 * i + 1], b);
      }
    }
  }

 private:
  static constexpr int numbers = Unit::steps / 4;  // of a place

  /// Those of every eighth place from `first` on.
  template <typename Tile, int count>
  static __device__ __forceinline__ void load_places(float (&to)[count][numbers], const float* tile,
                                                     int first, int step) {
#pragma unroll
    for (int i = 0; i < count; ++i) {
#pragma unroll
      for (int j = 0; j < numbers; ++j) to[i][j] = tile[Tile::index(first + i * 8, step + j * 4)];
    }
  }

  float a_[2][2 * down][numbers];
  float b_[2][across][numbers];
};
//! [mma_rounded]

}  // namespace stagewise::shared_memory
