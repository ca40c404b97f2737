/// @file
/// Where the sums of a tensor-core instruction are.
#pragma once

#include <cuda_runtime.h>

namespace stagewise::shared_memory {

//! [mma_sums]
/// A warp's tile of WM x WN, made of tiles of 16 x 8, one of an instruction each. With g = lane / 4
/// and t = lane % 4, a lane has the sums (g, 2t), (g, 2t + 1), (g + 8, 2t) and (g + 8, 2t + 1) of
/// each: the same in every precision. See tiles.hpp for the names.
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

}  // namespace stagewise::shared_memory
