/// @file
/// Which elements of a k tile a thread copies, where addresses are not at fixed distances.
#pragma once

#include "03_shared_memory/tiles/swizzled_tile.cuh"

namespace stagewise::shared_memory {

/// Which elements of a k tile a thread copies, vector by vector, or one by one. Neighbouring
/// threads copy neighbours in memory.
template <typename Matrix, int extent, int BK, int threads>
class CopyIndex {
 public:
  using Tile =
      SwizzledTile<typename Matrix::Scalar, extent, BK, Matrix::k_major, Matrix::is_transposed>;
  static constexpr int length = Tile::is_transposed ? 1 : Matrix::length;
  static constexpr int count = (extent * BK / length + threads - 1) / threads;

 protected:
  /// Whether there is a copy number `i` for this thread.
  static __device__ bool is_mine(int i) {
    constexpr int all = extent * BK / length;
    return (i + 1) * threads <= all || static_cast<int>(threadIdx.x) + i * threads < all;
  }

  /// Whether all of its copies are of the same neighbours, in different lines.
  static constexpr bool stays = threads % ((Matrix::k_major ? BK : extent) / length) == 0;

  /// Its row and its step in the k tile.
  static __device__ int row(int i) { return Matrix::k_major ? line(i) : neighbour(i); }
  /// See row().
  static __device__ int step(int i) { return Matrix::k_major ? neighbour(i) : line(i); }

 private:
  static constexpr unsigned in_line = (Matrix::k_major ? BK : extent) / length;
  static __device__ int neighbour(int i) {
    return static_cast<int>((threadIdx.x + i * threads) % in_line) * length;
  }
  static __device__ int line(int i) {
    return static_cast<int>((threadIdx.x + i * threads) / in_line);
  }
};

}  // namespace stagewise::shared_memory
