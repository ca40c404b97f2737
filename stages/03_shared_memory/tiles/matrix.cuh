/// @file
/// A factor as it is stored, the simplest Matrix (see tiles.cuh); a thread's asynchronous copies of
/// it, which can be requested one by one; and where they go in shared memory, so that lanes read
/// them without bank conflicts.
#pragma once

#include <cuda_runtime.h>

#include "03_shared_memory/vector.cuh"
#include "tensor/shape.hpp"

namespace stagewise::shared_memory {

/// The row to load from where `row` may lie past the edge. What is computed from rows past it lies
/// outside of C, so any numbers will do. But not the same for all: loads of the same bytes wait for
/// each other. So the first rows stand in, one for each.
__device__ inline int row_inside(int row, int rows) {
  return row < rows ? row : row % rows;
}

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

/// This thread's copies of one factor. None of them branches: what does not exist is copied as
/// zeros. So the compiler can place them between multiplications.
///
/// What is copied at once, a vector or a single scalar, is a **piece**. Pieces that are neighbours
/// in memory form **lines**: rows of the k tile, or columns. `chunk` threads stand side by side
/// before a line, and as many lines are copied at once as threads suffice for. So what a thread
/// copies of a line lies at fixed distances, which instructions contain, and it takes one pointer,
/// which moves on with the k tiles, for each of its lines. Tiles that are transposed for want
/// of registers have one pointer for all lines, and a copy takes an addition more.
template <typename Matrix, int extent, int BK, int threads>
class StridedCopies {
  using T = typename Matrix::Scalar;

 public:
  using Tile = SwizzledTile<T, extent, BK, Matrix::k_major, Matrix::is_transposed>;
  static constexpr int length = Tile::is_transposed ? 1 : Matrix::length;  ///< of a piece

 private:
  static constexpr int neighbours = Matrix::k_major ? BK : extent;  ///< in a line
  static constexpr int lines = Matrix::k_major ? extent : BK;
  static constexpr int pieces = neighbours / length;  ///< of a line

  /// Eight single floats are a sector of memory, and eight vectors or sixteen doubles all banks of
  /// shared memory. More if there are too few lines for all threads, or if lines would remain that
  /// are too few.
  static constexpr int threads_before_line() {
    int most = length == 1 && sizeof(T) == 8 && pieces >= 32 ? 16 : 8;
    while (most * 2 <= threads / lines) most *= 2;
    while (most < 32 && lines % (threads / most) != 0) most *= 2;
    while (most / 2 >= pieces) most /= 2;
    return most;
  }
  static constexpr int chunk = threads_before_line();
  static constexpr int at_once = threads / chunk;  ///< lines
  static constexpr int thread_lines = (lines + at_once - 1) / at_once;
  static constexpr int thread_pieces = (pieces + chunk - 1) / chunk;  ///< of a line
  static constexpr int pointers = Matrix::is_transposed ? 1 : thread_lines;
  static_assert(neighbours % length == 0 && threads % chunk == 0);

  /// This thread's lines, and where its pieces of a line begin.
  static __device__ int line(int l) { return static_cast<int>(threadIdx.x / chunk) + l * at_once; }
  static __device__ int neighbour(int piece) {
    return (static_cast<int>(threadIdx.x % chunk) + piece * chunk) * length;
  }

 public:
  static constexpr int count = thread_lines * thread_pieces;

  /// Begins at row or column `first`, with the k tile that begins at `step`.
  __device__ void start(const Matrix& matrix, int first, int step) {
    rows_ = matrix.rows - first;
#pragma unroll
    for (int i = 0; i < pointers; ++i) {
      from_[i] = Matrix::k_major ? matrix.at(first + line(i), step + neighbour(0))
                                 : matrix.at(first + neighbour(0), step + line(i));
    }
  }

  /// Requests copy number `i` of the k tile, from the `steps` steps that there are.
  __device__ __forceinline__ void copy(T* buffer, const Matrix& matrix, int i, int steps) {
    const int l = i / thread_pieces;
    const int piece = i % thread_pieces;
    if (!is_mine(l, piece)) return;
    const int lines_left = Matrix::k_major ? rows_ : steps;
    const int neighbours_left = Matrix::k_major ? steps : rows_;
    constexpr int line_bytes = is_regular ? line_distance * static_cast<int>(sizeof(T)) : 0;
    const T* from = from_[l % pointers];
    if constexpr (Matrix::is_transposed) from += l * at_once * matrix.row_stride();
    copy_async<length * sizeof(T)>(buffer + index_of(l, piece), from + piece * chunk * length,
                                   line(l) < lines_left && neighbour(piece) < neighbours_left,
                                   l * line_bytes);
  }

  /// Moves on to the next k tile.
  __device__ void advance(const Matrix& matrix) {
#pragma unroll
    for (int i = 0; i < pointers; ++i) from_[i] += BK * matrix.step_stride();
  }

 private:
  /// The last lines of the k tile, and the last pieces of a line, may be too few for all threads.
  static __device__ bool is_mine(int l, int piece) {
    return ((l + 1) * at_once <= lines || line(l) < lines) &&
           ((piece + 1) * chunk <= pieces || neighbour(piece) < neighbours);
  }

  /// Where a piece is stored: in all lines at the same distance from the first, whose index this
  /// is, unless the permutations of vectors do not repeat in time.
  static constexpr bool is_regular = at_once % Tile::swizzled_rows == 0;
  static constexpr int line_distance = at_once * (Tile::is_transposed ? 1 : Tile::row_length);
  static __device__ int index_of(int l, int piece) {
    if constexpr (Matrix::k_major) return Tile::index(line(is_regular ? 0 : l), neighbour(piece));
    return Tile::index(neighbour(0), line(0)) + piece * chunk * length;
  }

  int rows_;                 ///< from the tile's first on
  const T* from_[pointers];  ///< this thread's first pieces
};

/// Elements at fixed distances. So a thread does not have to look for them: from a k tile to the
/// next, it moves its pointers on.
/// @tparam k_major_ whether neighbours in memory differ in the step along k.
/// @tparam length_ how many neighbours can be copied at once: a vector, or a single scalar.
/// @tparam is_transposed_ whether k tiles are transposed; see SwizzledTile.
template <typename T, bool k_major_, int length_, bool is_transposed_ = false>
struct StridedMatrix {
  using Scalar = T;
  static constexpr bool k_major = k_major_;
  static constexpr int length = length_;
  static constexpr bool is_transposed = is_transposed_;
  template <int extent, int BK, int threads>
  using Copies = StridedCopies<StridedMatrix, extent, BK, threads>;

  const T* data;
  int rows;   ///< of op(A), or columns of op(B)
  int steps;  ///< k

  /// @pre the sizes fit into ints: see fits_ints().
  StridedMatrix(const T* first, Index row_count, Index step_count)
      : data(first), rows(static_cast<int>(row_count)), steps(static_cast<int>(step_count)) {}

  /// From a row to the next, and from a step to the next.
  __device__ Index row_stride() const { return k_major ? steps : 1; }
  __device__ Index step_stride() const { return k_major ? 1 : rows; }

  /// Where an element is, or would be.
  __device__ const T* at(int row, int step) const {
    return data + row * row_stride() + step * step_stride();
  }
};

}  // namespace stagewise::shared_memory
