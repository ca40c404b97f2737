/// @file
/// Asynchronous copies of a batch that is picked from the data set.
///
/// Stage 03's copies move their pointers on by the same distance from a k tile to the next
/// (gemm/tile_copies.cuh). Rows of the data set are anywhere. Forward, they are the product's rows:
/// their numbers are looked up once, before the first k tile. Backward, they are its steps, so each
/// k tile has others. To look one up takes as long as to copy it, and the copy would have to wait
/// for its address; so the numbers of the next k tile's rows are fetched one k tile ahead.
#pragma once

#include "03_shared_memory/gemm/copy_places.cuh"
#include "03_shared_memory/gemm/tile_copies.cuh"
#include "04_minibatch/linear/batch_matrices.cuh"

namespace stagewise::shared_memory {

//! [copies_of_rows]
/// Forward: a pointer for each copy. See TileCopies for the functions.
template <typename T, int length_, int extent, int BK, int threads>
class TileCopies<T, minibatch::BatchRows<T, length_>, extent, BK, threads>
    : public CopyPlaces<T, minibatch::BatchRows<T, length_>, extent, BK, threads> {
  using Matrix = minibatch::BatchRows<T, length_>;
  using Places = CopyPlaces<T, Matrix, extent, BK, threads>;

 public:
  /// Looks up the rows of the tile that begins at `first`.
  __device__ void start(const Matrix& rows, int first, int step) {
#pragma unroll
    for (int i = 0; i < Places::count; ++i) {
      from_[i] = rows.row(first + Places::place(i)) + (step + Places::step(i));
    }
  }

  /// Requests copy number `i` of the k tile, from the `steps` steps that there are.
  __device__ __forceinline__ void copy(T* buffer, const Matrix& /*rows*/, int i, int steps) {
    if (!Places::is_mine(i)) return;
    T* const to = buffer + Places::Tile::index(Places::place(i), Places::step(i));
    copy_async<Places::length * sizeof(T)>(to, from_[i], Places::step(i) < steps);
  }

  /// Moves on to the next k tile.
  __device__ void advance(const Matrix& /*rows*/) {
#pragma unroll
    for (int i = 0; i < Places::count; ++i) from_[i] += BK;
  }

 private:
  const T* from_[Places::count];
};
//! [copies_of_rows]

//! [copies_of_columns]
/// Backward: for each copy, the sample of this k tile, and that of the next.
template <typename T, int length_, int extent, int BK, int threads>
class TileCopies<T, minibatch::BatchColumns<T, length_>, extent, BK, threads>
    : public CopyPlaces<T, minibatch::BatchColumns<T, length_>, extent, BK, threads> {
  using Matrix = minibatch::BatchColumns<T, length_>;
  using Places = CopyPlaces<T, Matrix, extent, BK, threads>;

 public:
  /// Looks up the samples of the k tile that begins at `step`, and of the next.
  __device__ void start(const Matrix& columns, int first, int step) {
    next_step_ = step;
#pragma unroll
    for (int i = 0; i < Places::count; ++i) {
      place_[i] = columns.place_for(first + Places::place(i));
      next_[i] = columns.sample(step + Places::step(i));
    }
    advance(columns);
  }

  /// Requests copy number `i` of the k tile, from the `steps` steps that there are.
  __device__ __forceinline__ void copy(T* buffer, const Matrix& columns, int i, int steps) {
    if (!Places::is_mine(i)) return;
    T* const to = buffer + Places::Tile::index(Places::place(i), Places::step(i));
    copy_async<Places::length * sizeof(T)>(to, columns.at(place_[i], sample_[i]),
                                           Places::step(i) < steps);
  }

  /// Moves on to the next k tile.
  __device__ void advance(const Matrix& columns) {
    next_step_ += BK;
#pragma unroll
    for (int i = 0; i < Places::count; ++i) {
      sample_[i] = next_[i];
      next_[i] = columns.sample(next_step_ + Places::step(i));
    }
  }

 private:
  int next_step_;  ///< the first of the next k tile
  int place_[Places::count];
  std::uint32_t sample_[Places::count];
  std::uint32_t next_[Places::count];
};
//! [copies_of_columns]

}  // namespace stagewise::shared_memory
