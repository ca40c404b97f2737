/// @file
/// A k tile in shared memory: where its elements are, so that lanes read them without bank
/// conflicts; and who copies which, for factors that are no matrices in memory.
#pragma once

#include <cuda_runtime.h>

#include "03_shared_memory/vector.cuh"

namespace stagewise::shared_memory {

//! [swizzled_tile]
/// `extent` rows of A, or columns of B, and BK steps. Tensor cores' lanes read a scalar each of 4
/// steps and 8 neighbouring rows; those of Fma a vector each of up to 8 rows.
///
/// If memory runs along k, the steps of a row are stored together, and their vectors are permuted
/// by exclusive or (a swizzle), so that rows which would share banks do not. Otherwise the rows of
/// a step are stored together, with a padding before those of the next: it shifts a step by a
/// quarter of the 32 banks against the one before.
///
/// If memory runs along k, but only for one or two vectors, nothing is left to permute: such a tile
/// is transposed while it is copied, scalar by scalar, and its padding is a vector, so that copies
/// of 8 steps of 4 rows do not conflict. It suits units whose lanes read vectors of rows. Other
/// tiles are transposed if `transposes` says so.
template <typename T, int extent_, int BK_, bool memory_k_major, bool transposes = false>
struct SwizzledTile {
  static constexpr int extent = extent_;
  static constexpr int BK = BK_;
  static constexpr int length = Vector<T>::length;
  static constexpr bool is_transposed = memory_k_major && (transposes || BK < 4 * length);
  static constexpr bool k_major = memory_k_major && !is_transposed;
  static constexpr int bytes_of_banks = 128;
  static constexpr int quarter = bytes_of_banks / 4 / sizeof(T);  ///< scalars in 8 banks
  static constexpr int for_reads = extent % (2 * quarter) == quarter ? 0 : quarter;
  static constexpr int padding = is_transposed ? length : for_reads;
  static constexpr int row_length = k_major ? BK : extent + padding;
  static constexpr int elements = (k_major ? extent : BK) * row_length;
  static_assert(extent % quarter == 0 || extent % (2 * quarter) == 0);

  /// How the vectors of a row are permuted, if its steps are stored together.
  static constexpr int vectors = BK / length;
  static constexpr int read_together = 4 / length;  ///< vectors
  static constexpr int bytes = BK * sizeof(T);
  static constexpr int rows_in_banks = bytes < bytes_of_banks ? bytes_of_banks / bytes : 1;
  /// After so many rows, the permutations repeat.
  static constexpr int swizzled_rows = k_major ? rows_in_banks * vectors / read_together : 1;
  static_assert(!k_major || ((vectors & (vectors - 1)) == 0 && read_together >= 1));

  /// Where an element is. Its neighbours follow it, in `step` or in `row`, within a vector.
  static __device__ int index(unsigned row, unsigned step) {
    if constexpr (k_major) {
      const unsigned swizzle = row / rows_in_banks % (vectors / read_together) * read_together;
      return row * BK + ((step / length) ^ swizzle) * length + step % length;
    } else {
      return step * row_length + row;
    }
  }
};
//! [swizzled_tile]

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

/// Whether an Mma reads vectors of steps, where the steps of a row are stored together. It has them
/// in registers until it has multiplied all of them, four times as many scalars as it needs for
/// one; for both factors, there are not registers enough. Then one of them should be transposed.
template <template <typename, typename, typename> class MmaOf>
inline constexpr bool keeps_vectors_of_steps = false;

}  // namespace stagewise::shared_memory
