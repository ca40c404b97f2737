/// @file
/// Asynchronous copies of elements whose addresses are sums of two offsets.
///
/// To work out the offset of a row or of a step takes divisions, so it is done rarely: for the
/// rows of a tile before the first k tile, and for the steps of a k tile one k tile ahead. Where
/// memory runs along k, a thread has one step of each k tile:
///
///     k tile   step 0    1    2  ...                 8 steps, 64 threads
///     row 0    thread 0  1    2  ...  7
///     row 1           8  9   10  ... 15
///     ...
///     row 8    thread 0 again, at step 0
///
/// so an element, or a vector of channels, costs one addition and one copy.
#pragma once

#include <concepts>

#include "03_shared_memory/tiles/matrix.cuh"
#include "03_shared_memory/vector.cuh"

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

/// The offset of a row or of a step, in elements: the sum of both says where an element is, from
/// the factor's first element on.
struct Offset {
  int elements;
};

/// Whether an element exists: always.
__device__ inline bool is_inside(const Offset& /*row*/, const Offset& /*step*/) {
  return true;
}

/// A factor that says, beside what factors have:
///
///     const T* data;
///     auto row(int i) const;   // offsets, with what else is_inside() must know
///     auto step(int k) const;
///     bool is_inside(row, step);   // a function: whether the element exists; else it is 0
template <typename Matrix>
concept HasOffsets = requires(const Matrix& matrix) {
  { matrix.row(0).elements } -> std::convertible_to<int>;
  { matrix.step(0).elements } -> std::convertible_to<int>;
};

//! [copies_by_offsets]
/// See MatrixCopies for the functions.
template <HasOffsets Matrix, int extent, int BK, int threads>
class OffsetCopies : public CopyIndex<Matrix, extent, BK, threads> {
  using T = typename Matrix::Scalar;
  using At = CopyIndex<Matrix, extent, BK, threads>;
  using Row = decltype(std::declval<const Matrix&>().row(0));
  using Step = decltype(std::declval<const Matrix&>().step(0));
  static constexpr int rows = !Matrix::k_major && At::stays ? 1 : At::count;
  static constexpr int steps = Matrix::k_major && At::stays ? 1 : At::count;

 public:
  /// Looks up the rows of the tile that begins at `first`, and the steps of the k tile.
  __device__ void start(const Matrix& matrix, int first, int step) {
    step_ = step;
#pragma unroll
    for (int i = 0; i < rows; ++i) rows_[i] = matrix.row(first + At::row(i));
    look_up(matrix);
  }

  /// Requests copy number `i` of the k tile, from the `left` steps that there are.
  __device__ __forceinline__ void copy(T* buffer, const Matrix& matrix, int i, int left) {
    if (!At::is_mine(i)) return;
    const Row& row = rows_[i % rows];
    const Step& step = steps_[i % steps];
    T* const to = buffer + At::Tile::index(At::row(i), At::step(i));
    copy_async<At::length * sizeof(T)>(to, matrix.data + (row.elements + step.elements),
                                       At::step(i) < left && is_inside(row, step));
  }

  /// Moves on to the next k tile.
  __device__ void advance(const Matrix& matrix) {
    step_ += BK;
    look_up(matrix);
  }

 private:
  __device__ void look_up(const Matrix& matrix) {
#pragma unroll
    for (int i = 0; i < steps; ++i) steps_[i] = matrix.step(step_ + At::step(i));
  }

  int step_;
  Row rows_[rows];
  Step steps_[steps];
};
//! [copies_by_offsets]

}  // namespace stagewise::shared_memory
