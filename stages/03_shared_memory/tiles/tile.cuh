/// @file
/// The sizes of a tile, and which block computes which tile.
#pragma once

#include <cuda_runtime.h>

#include "tensor/shape.hpp"

namespace stagewise::shared_memory {

//! [tile]
/// A block's tile of BM x BN, divided into warp tiles of WM x WN. If C has too few tiles for all
/// warps, several groups of warps compute the whole tile, each for some of the BK steps that are in
/// shared memory, and at the end their sums are added up.
/// @tparam slice_k_ how many groups there are.
/// @tparam buffers_ how many k tiles of a factor are in shared memory.
/// @tparam blocks_ how many blocks have room on a multiprocessor.
template <int BM_, int BN_, int BK_, int WM_, int WN_, int slice_k_, int buffers_, int blocks_>
struct Tile {
  static constexpr int BM = BM_;
  static constexpr int BN = BN_;
  static constexpr int BK = BK_;
  static constexpr int WM = WM_;
  static constexpr int WN = WN_;
  static constexpr int slice_k = slice_k_;
  static constexpr int buffers = buffers_;
  static constexpr int blocks = blocks_;
  static constexpr int depth = BK / slice_k;  ///< steps of a k tile that are a slice's
  static constexpr int slice_threads = 32 * (BM / WM) * (BN / WN);
  static constexpr int threads = slice_threads * slice_k;

  static_assert(BM % WM == 0 && BN % WN == 0, "the warps' tiles must fill the block's");
  static_assert(BK % slice_k == 0 && buffers >= 2);

  /// This thread's slice.
  static __device__ int slice() {
    return slice_k == 1 ? 0 : static_cast<int>(threadIdx.x / slice_threads);
  }

  /// Its index among the threads of the slice.
  static __device__ int slice_thread() {
    return static_cast<int>(slice_k == 1 ? threadIdx.x : threadIdx.x % slice_threads);
  }

  /// The row of the block's tile at which its warp's begins.
  static __device__ int warp_row() { return warp() / warps_across * WM; }
  /// Likewise, the column.
  static __device__ int warp_column() { return warp() % warps_across * WN; }

 private:
  static constexpr unsigned warps_across = BN / WN;
  static __device__ unsigned warp() { return threadIdx.x % slice_threads / 32; }
};
//! [tile]

/// Where a tile of C is.
struct TilePosition {
  int top;   ///< its first row
  int left;  ///< its first column
};

//! [tile_order]
/// The order of C's tiles, in which neighbours share data: down eight rows of tiles, then on to the
/// next column.
template <typename Tile>
struct TileOrder {
  int m;
  int n;

  /// How many there are below one another, and side by side.
  __device__ int down() const { return (m - 1) / Tile::BM + 1; }
  /// See above.
  __device__ int across() const { return (n - 1) / Tile::BN + 1; }

  /// Where a tile is.
  __device__ TilePosition at(int tile) const {
    constexpr int height = 8;
    const int first = tile / (height * across()) * height;
    const int in_band = down() - first < height ? down() - first : height;
    const int rest = tile % (height * across());
    return {(first + rest % in_band) * Tile::BM, rest / in_band * Tile::BN};
  }
};
//! [tile_order]

/// How many tiles a matrix of m x n has, m and n at least 1.
template <typename Tile>
Index tile_count(Index m, Index n) {
  return ((m - 1) / Tile::BM + 1) * ((n - 1) / Tile::BN + 1);
}

//! [split_k]
/// How several blocks share a tile. Each multiplies `share` of its k tiles, the first `longer` of
/// them one more, and leaves its sums in the workspace; the last to do so adds them all up.
template <typename T>
struct SplitK {
  int share;
  int longer;
  T* sums;             ///< room for those of each block, as large as the tile; a tile's in sequence
  unsigned* counters;  ///< see Finish::is_last(): 0 before and after

  /// The first k tile of a block; its last is the one before the next block's first.
  __device__ int begin(int block) const {
    return block * share + (block < longer ? block : longer);
  }
};
//! [split_k]

}  // namespace stagewise::shared_memory
