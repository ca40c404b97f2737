/// @file
/// An Mma for floats that tensor cores round before they multiply.
#pragma once

#include "03_shared_memory/tiles/mma_double.cuh"

namespace stagewise::shared_memory {

//! [mma_rounded]
/// What an instruction takes differs by precision, so it is a type, `Unit`, that has
///
///     static constexpr int steps;  // of an instruction
///     struct Factor;               // a lane's steps / 4 numbers of a row, in registers
///     static Factor factor(const float* numbers);
///     static void multiply(float (&sums)[4], Factor upper, Factor lower, Factor b);
///
/// A round is one instruction for each 16 x 8 of the warp's tile; see tiles.cuh for what an
/// Mma has. Lane t has the steps t, t + 4, t + 8, ... of a round. Where the instruction
/// has them in another order, that is no matter: they are the same in both factors.
template <typename Unit, typename Tile, typename TileA, typename TileB>
class MmaRounded : public MmaSums<float, Tile> {
 public:
  using Sums = MmaSums<float, Tile>;
  using Sums::across;
  using Sums::down;
  static constexpr int rounds = Tile::depth / Unit::steps;
  static_assert(Tile::depth % (2 * Unit::steps) == 0, "two sets of registers");

  /// Loads this lane's elements of a round.
  __device__ __forceinline__ void load(int round, const float* a, const float* b) {
    const int step = Tile::slice() * Tile::depth + round % rounds * Unit::steps + Sums::t();
    load_rows<TileA>(a_[round % 2], a, Tile::warp_row() + Sums::g(), step);
    load_rows<TileB>(b_[round % 2], b, Tile::warp_column() + Sums::g(), step);
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
  static constexpr int of_row = Unit::steps / 4;  // scalars

  /// Those of every eighth row from `first` on.
  template <typename KTile, int count>
  static __device__ __forceinline__ void load_rows(float (&to)[count][of_row], const float* tile, int first, int step) {
#pragma unroll
    for (int i = 0; i < count; ++i) {
#pragma unroll
      for (int j = 0; j < of_row; ++j) to[i][j] = tile[KTile::index(first + i * 8, step + j * 4)];
    }
  }

  float a_[2][2 * down][of_row];
  float b_[2][across][of_row];
};
//! [mma_rounded]

}  // namespace stagewise::shared_memory
