/// @file
/// Who computes what in rungs 14 and above: warps share a tile of C, and also the steps along k.
#pragma once

#include <cuda_runtime.h>

namespace stagewise::shared_memory {

//! [sliced_tiling]
/// A block's tile of BM x BN, divided into warp tiles of WM x WN. If C has too few tiles for all
/// warps, several groups of warps compute the whole tile, each for some of the BK steps that are in
/// shared memory (**slices of k**), and at the end their sums are added up.
/// @tparam slices_ how many groups there are.
/// @tparam stages_ how many k tiles of a factor are in shared memory.
/// @tparam blocks_ how many blocks have room on a multiprocessor.
template <int BM_, int BN_, int BK_, int WM_, int WN_, int slices_, int stages_, int blocks_>
struct SlicedTiling {
  static constexpr int BM = BM_;
  static constexpr int BN = BN_;
  static constexpr int BK = BK_;
  static constexpr int WM = WM_;
  static constexpr int WN = WN_;
  static constexpr int slices = slices_;
  static constexpr int stages = stages_;
  static constexpr int blocks = blocks_;
  static constexpr int depth = BK / slices;  ///< steps of a k tile that are a slice's
  static constexpr int threads_of_slice = 32 * (BM / WM) * (BN / WN);
  static constexpr int threads = threads_of_slice * slices;

  static_assert(BM % WM == 0 && BN % WN == 0, "the warps' tiles must fill the block's");
  static_assert(BK % slices == 0 && stages >= 2);

  /// This thread's slice.
  static __device__ int slice() {
    return slices == 1 ? 0 : static_cast<int>(threadIdx.x / threads_of_slice);
  }

  /// Its number among the threads of the slice.
  static __device__ int place() {
    return static_cast<int>(slices == 1 ? threadIdx.x : threadIdx.x % threads_of_slice);
  }

  /// The row of the block's tile at which its warp's begins.
  static __device__ int warp_row() { return warp() / warps_across * WM; }
  /// Likewise, the column.
  static __device__ int warp_column() { return warp() % warps_across * WN; }

 private:
  static constexpr unsigned warps_across = BN / WN;
  static __device__ unsigned warp() { return threadIdx.x % threads_of_slice / 32; }
};
//! [sliced_tiling]

}  // namespace stagewise::shared_memory
