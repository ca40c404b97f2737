/// @file
/// How the sums get from registers to C: through shared memory, in whole rows.
#pragma once

#include "03_shared_memory/gemm/epilogue.cuh"
#include "03_shared_memory/gemm/tiling.cuh"

namespace stagewise::shared_memory {

//! [store_rows]
/// A warp's 16 rows of 64 columns on their way to C. With g = lane / 4 and t = lane % 4, a lane has
/// the sums (g, 2t), (g, 2t + 1), (g + 8, 2t) and (g + 8, 2t + 1) of each 8 columns, as with
/// `mma.sync`. If it stored them as they are, a warp would write 32 bytes here and there; like this
/// it writes 256 bytes of a row at once.
class WarpPatch {
 public:
  static constexpr int rows = 16;
  static constexpr int columns = 64;
  static constexpr int bytes = rows * columns * static_cast<int>(sizeof(float));

  /// @param memory `bytes` bytes for this warp, at a multiple of 16.
  __device__ explicit WarpPatch(float* memory) : memory_(memory) {}

  /// Puts a lane's 32 sums there.
  __device__ __forceinline__ void put(const float* sums) {
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 2 * columns / 8; ++i) {
      const int row = lane() / 4 + i % 2 * 8;
      const int column = i / 2 * 8 + lane() % 4 * 2;
      *reinterpret_cast<float2*>(at(row, column)) = {sums[2 * i], sums[2 * i + 1]};
    }
    __syncwarp();
  }

  /// Passes them to the epilogue, and stores the results.
  /// @param tile where the patch is in C.
  template <typename Epilogue>
  __device__ __forceinline__ void store(const Epilogue& epilogue, TilePlace tile, int m, int n) {
    const int first = lane() % 16 * 4;
    const int column = tile.left + first;
#pragma unroll
    for (int i = 0; i < rows / 2; ++i) {
      const int row = 2 * i + lane() / 16;
      if (tile.top + row >= m || column >= n) continue;
      const auto sums = *reinterpret_cast<const Vector<float>*>(at(row, first));
      float* const out = epilogue.row(tile.top + row) + column;
      Vector<float> results = {};
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (column + j >= n) continue;
        results.values[j] = epilogue(tile.top + row, column + j, sums.values[j]);
        if (!epilogue.vectors) out[j] = results.values[j];
      }
      if (epilogue.vectors) *reinterpret_cast<Vector<float>*>(out) = results;
    }
  }

 private:
  static __device__ int lane() {
    return static_cast<int>(threadIdx.x % 32);
  }

  /// Groups of 8 columns change places, such that those of four rows are in different banks.
  __device__ float* at(int row, int column) const {
    return memory_ + row * columns + (column ^ row % 4 * 8);
  }

  float* memory_;
};
//! [store_rows]

}  // namespace stagewise::shared_memory
