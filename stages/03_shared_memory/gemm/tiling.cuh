/// @file
/// Who computes what in the top rungs: a block computes a tile of C, a warp a part of the tile, a
/// thread a part of that.
#pragma once

#include <algorithm>

#include "03_shared_memory/gemm/loader.cuh"

namespace stagewise::shared_memory {

/// A block's tile of C, divided into warp tiles, and those into thread tiles.
///
/// A thread's rows and columns come in groups of 16 bytes, so that the thread reads them from
/// shared memory as vectors. The groups of one thread are not neighbours: between them lie those of
/// the other lanes. So a warp reads shared memory without gaps, and writes C without gaps. A
/// block's tile has BM x BN elements, a warp's WM x WN and a thread's TM x TN, and BK steps along k
/// are in shared memory at a time.
template <typename T, int BM_, int BN_, int BK_, int WM, int WN, int TM_, int TN_>
struct Tiling {
  static constexpr int BM = BM_;
  static constexpr int BN = BN_;
  static constexpr int BK = BK_;
  static constexpr int TM = TM_;
  static constexpr int TN = TN_;
  static constexpr int warps_across = BN / WN;
  static constexpr int threads = 32 * (BM / WM) * warps_across;
  static constexpr int lanes_down = WM / TM;
  static constexpr int lanes_across = WN / TN;
  static constexpr int group = Vector<T>::length;

  static_assert(lanes_down * lanes_across == 32, "a warp's tile must take all of its lanes");
  static_assert(BM % WM == 0 && BN % WN == 0, "the warps' tiles must fill the block's");
  static_assert(TM % group == 0 && TN % group == 0,
                "a thread's share must consist of whole vectors");
  static_assert(BM * BK % (threads * group) == 0 && BN * BK % (threads * group) == 0,
                "every thread must load the same number of vectors");

  //! [places]
  /// The row, within the block's tile, of this thread's i-th row. Rows of the same group are
  /// neighbours.
  static __device__ int row(int i) {
    const int warp = static_cast<int>(threadIdx.x) / 32 / warps_across;
    const int lane = static_cast<int>(threadIdx.x) % 32 / lanes_across;
    return warp * WM + (i / group * lanes_down + lane) * group + i % group;
  }

  /// Likewise for columns.
  static __device__ int column(int j) {
    const int warp = static_cast<int>(threadIdx.x) / 32 % warps_across;
    const int lane = static_cast<int>(threadIdx.x) % lanes_across;
    return warp * WN + (j / group * lanes_across + lane) * group + j % group;
  }
  //! [places]
};

// Large tiles reuse loaded numbers most; smaller ones give more blocks for the same C, and waste
// less at its edges.

template <typename T>
struct Tilings;

//! [tilings]
template <>
struct Tilings<float> {
  using Large = Tiling<float, 128, 128, 8, 32, 64, 8, 8>;
  using Medium = Tiling<float, 64, 64, 16, 32, 64, 8, 8>;
  using Small = Tiling<float, 32, 32, 32, 16, 32, 4, 4>;
  using Tall = Tiling<float, 64, 16, 32, 32, 16, 4, 4>;
  using Flat = Tiling<float, 16, 64, 32, 16, 32, 4, 4>;
};
//! [tilings]

template <>
struct Tilings<double> {
  using Large = Tiling<double, 128, 64, 8, 32, 32, 4, 8>;
  using Medium = Tiling<double, 64, 64, 8, 32, 32, 4, 8>;
  using Small = Tiling<double, 32, 32, 16, 16, 32, 4, 4>;
  using Tall = Tiling<double, 64, 16, 16, 32, 16, 4, 4>;
  using Flat = Tiling<double, 16, 64, 16, 16, 32, 4, 4>;
};

/// Where a tile of C is.
struct TilePlace {
  int top;   ///< its first row
  int left;  ///< its first column
};

/// The tiles of C, numbered so that tiles with neighbouring numbers share data: down eight rows of
/// tiles, then on to the next column.
template <typename Tiling>
struct TileOrder {
  int m;
  int n;

  __host__ __device__ int down() const { return (m - 1) / Tiling::BM + 1; }
  __host__ __device__ int across() const { return (n - 1) / Tiling::BN + 1; }

  /// The position of a tile, by its number.
  __device__ TilePlace place(int tile) const {
    constexpr int height = 8;
    const int first = tile / (height * across()) * height;
    const int in_band = down() - first < height ? down() - first : height;
    const int rest = tile % (height * across());
    return {(first + rest % in_band) * Tiling::BM, rest / in_band * Tiling::BN};
  }
};

/// How many tiles a matrix of m x n has, m and n at least 1.
template <typename Tiling>
Index tile_count(Index m, Index n) {
  return ((m - 1) / Tiling::BM + 1) * ((n - 1) / Tiling::BN + 1);
}

//! [k_tile_row]
/// A row of k tiles, and each block's piece of it: `share` k tiles, and one more for each of the
/// first `longer` blocks.
struct KTileRow {
  int share;
  int longer;

  /// The first k tile of a block; its last is the one before the next block's first.
  __device__ int begin(int block) const {
    return block * share + (block < longer ? block : longer);
  }

  /// The block to which a k tile belongs.
  __device__ int owner(int k_tile) const {
    const int in_longer = longer * (share + 1);
    return k_tile < in_longer ? k_tile / (share + 1) : longer + (k_tile - in_longer) / share;
  }
};
//! [k_tile_row]

}  // namespace stagewise::shared_memory
