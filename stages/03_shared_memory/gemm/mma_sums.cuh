/// @file
/// Where the sums of a tensor-core instruction are.
#pragma once

#include <cuda_runtime.h>

namespace stagewise::shared_memory {

//! [mma_sums]
/// A warp's tile of WM x WN, made of tiles of 16 x 8, one of an instruction each. With g = lane / 4
/// and t = lane % 4, a lane has the sums (g, 2t), (g, 2t + 1), (g + 8, 2t) and (g + 8, 2t + 1) of
/// each: the same in every precision. See multiplied_tile.cuh for the names.
template <typename T, typename Tiling>
class MmaSums {
 public:
  static constexpr int down = Tiling::WM / 16;
  static constexpr int across = Tiling::WN / 8;
  static constexpr int products = down * across;
  static constexpr int pairs = 2 * products;
  static_assert(Tiling::WM % 16 == 0 && Tiling::WN % 8 == 0);

  /// Each of `pairs` has two sums that are neighbours in C: this is one of them, `which` is 0 or 1.
  __device__ T& sum(int pair, int which) { return sums_[pair / 2][pair % 2 * 2 + which]; }

  /// The row of a pair in the block's tile.
  static __device__ int row(int pair) {
    return Tiling::warp_row() + pair / 2 / across * 16 + pair % 2 * 8 + g();
  }
  /// The column of its first sum.
  static __device__ int column(int pair) {
    return Tiling::warp_column() + pair / 2 % across * 8 + t() * 2;
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
