/// @file
/// The batch as a factor of the gradients of weights: rows picked from the data set are the
/// product's steps, and a bias is one more row.
///
/// Copies of a stored matrix move their pointers on by the same distance from a k tile to the next
/// (tiles/matrix.cuh). Samples of the data set are anywhere, and each k tile has others. To look
/// one up takes as long as to copy it, and the copy would have to wait for its address; so those of
/// the next k tile are looked up one k tile ahead.
#pragma once

#include "03_shared_memory/tiles/offset_copies.cuh"

namespace stagewise::minibatch {

//! [copies_of_columns]
/// For each copy, the sample of this k tile, and that of the next. See MatrixCopies for the
/// functions.
template <typename Matrix, int extent, int BK, int threads>
class ColumnCopies : public shared_memory::CopyIndex<Matrix, extent, BK, threads> {
  using T = typename Matrix::Scalar;
  using At = shared_memory::CopyIndex<Matrix, extent, BK, threads>;

 public:
  /// Looks up the samples of the k tile that begins at `step`, and of the next.
  __device__ void start(const Matrix& columns, int first, int step) {
    next_step_ = step;
#pragma unroll
    for (int i = 0; i < At::count; ++i) {
      row_[i] = columns.row_for(first + At::row(i));
      next_[i] = columns.sample(step + At::step(i));
    }
    advance(columns);
  }

  /// Requests copy number `i` of the k tile, from the `steps` steps that there are.
  __device__ __forceinline__ void copy(T* buffer, const Matrix& columns, int i, int steps) {
    if (!At::is_mine(i)) return;
    T* const to = buffer + At::Tile::index(At::row(i), At::step(i));
    shared_memory::copy_async<At::length * sizeof(T)>(to, columns.at(row_[i], sample_[i]),
                                                      At::step(i) < steps);
  }

  /// Moves on to the next k tile.
  __device__ void advance(const Matrix& columns) {
    next_step_ += BK;
#pragma unroll
    for (int i = 0; i < At::count; ++i) {
      sample_[i] = next_[i];
      next_[i] = columns.sample(next_step_ + At::step(i));
    }
  }

 private:
  int next_step_;  ///< the first of the next k tile
  int row_[At::count];
  std::uint32_t sample_[At::count];
  std::uint32_t next_[At::count];
};
//! [copies_of_columns]

//! [batch_columns]
/// The batch transposed, as op(A) of the weights' gradient: a row is a feature, a step a row of the
/// batch. Behind the last feature, there may be one more row, where every sample has a 1: the
/// product with the output's gradient is then the gradient of the weights, and below it that of the
/// bias.
/// @tparam length_ how many features can be copied at once.
template <typename T, int length_>
struct BatchColumns {
  using Scalar = T;
  static constexpr bool k_major = false;  ///< features are neighbours in memory, and so are rows
  static constexpr bool is_transposed = false;
  static constexpr int length = length_;
  template <int extent, int BK, int threads>
  using Copies = ColumnCopies<BatchColumns, extent, BK, threads>;

  const T* data;
  int rows;   ///< features
  int steps;  ///< rows of the batch
  const std::uint32_t* order;
  const T* one;  ///< 1, 0, 0, 0, ...: `length` numbers; null: there are no ones
  int stride;    ///< from a sample to the next

  /// The row to copy from where `row` is wanted. Past the last, others stand in.
  __device__ int row_for(int row) const {
    const bool is_ones = one != nullptr && row == rows;
    return is_ones ? row : shared_memory::row_inside(row, rows);
  }

  /// The number that row `step` of the batch has in the data set.
  __device__ std::uint32_t sample(int step) const {
    if (order == nullptr) return static_cast<std::uint32_t>(step);
    return order[step < steps ? step : 0];
  }

  //! [ones]
  /// Where a sample has a feature, or its 1.
  __device__ const T* at(int row, std::uint32_t sample) const {
    return row == rows ? one : data + (static_cast<Index>(sample) * stride + row);
  }
  //! [ones]
};
//! [batch_columns]

}  // namespace stagewise::minibatch
