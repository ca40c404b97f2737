/// @file
/// A thread's asynchronous copies of a StridedMatrix, which can be requested one by one.
#pragma once

#include "03_shared_memory/copy_async.cuh"
#include "03_shared_memory/tiles/k_tile.cuh"
#include "tensor/shape.hpp"

namespace stagewise::shared_memory {

//! [strided_copies]
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
    const Index stride = Matrix::k_major ? matrix.row_stride() : matrix.step_stride();
    const T* const from = from_[l % pointers] + l / pointers * at_once * stride;
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

  /// This thread's lines, and where its pieces of a line begin.
  static __device__ int line(int l) {
    return static_cast<int>(threadIdx.x / chunk) + l * at_once;
  }
  static __device__ int neighbour(int piece) {
    return (static_cast<int>(threadIdx.x % chunk) + piece * chunk) * length;
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
//! [strided_copies]

}  // namespace stagewise::shared_memory
