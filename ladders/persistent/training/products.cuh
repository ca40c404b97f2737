/// @file
/// The two products with the slice of the inputs: forward, and the gradient of the hidden weights.
///
/// Both factors are in shared memory, a vector along k at a time. A product of a slice is small: to
/// give all threads something to do, several share a tile, each with a part of the sum, and leave
/// what they have in shared memory, to be added up in the order of the parts.
#pragma once

#include "ladders/persistent/training/slice.cuh"

namespace stagewise::minibatch::persistent {

/// A thread's part of a product: which tile, and which part of the sum.
struct TilePart {
  int part;
  int across;        ///< number of the tile's group of units
  int down;          ///< number of the tile's group of rows, or of inputs
  int busy_threads;  ///< of the block: those that have a part

  /// @param tiles how many there are down.
  __device__ TilePart(int tiles, int unit_groups, int parts) {
    const auto thread = static_cast<int>(threadIdx.x);
    part = thread / (tiles * unit_groups);
    const int tile = thread % (tiles * unit_groups);
    down = tile / unit_groups;
    across = tile % unit_groups;
    busy_threads = tiles * unit_groups * parts;
    if (part >= parts) part = -1;
  }

  /// Whether this thread has one.
  __device__ bool exists() const { return part >= 0; }
};

/// In shared memory, the weights of unit u are row `row_of_unit(u)`: neighbouring threads have
/// neighbouring tiles of units, and so read neighbouring rows, which begin in different banks.
template <int unit_tile>
__device__ int row_of_unit(int unit, int unit_groups) {
  return unit % unit_tile * unit_groups + unit / unit_tile;
}

//! [forward]
/// partials[part][row][unit] = the sum over the part's inputs of input[row][k] weight[unit][k].
template <int unit_tile, typename T>
__device__ void multiply_forward(const Slice<T>& s, const TilePart& tile, int parts, const T* input) {
  using Vector = shared_memory::Vector<T>;
  constexpr int length = Vector::length;
  if (!tile.exists()) return;
  const int row_groups = s.sizes.padded_rows / row_tile;
  const int unit_groups = s.sizes.unit_groups;
  const int per_part = (s.p.plan.k_vectors + parts - 1) / parts;
  const int begin = tile.part * per_part;
  const int end = min(s.p.plan.k_vectors, begin + per_part);
  const T* const x = input + tile.down * s.sizes.k_stride;
  const T* const w = s.weight() + tile.across * s.sizes.k_stride;
  const int x_step = row_groups * s.sizes.k_stride;
  const int w_step = unit_groups * s.sizes.k_stride;

  T sums[row_tile][unit_tile] = {};
#pragma unroll 2
  for (int k = begin * length; k < end * length; k += length) {
    Vector rows[row_tile];
    Vector units[unit_tile];
#pragma unroll
    for (int i = 0; i < row_tile; ++i) rows[i] = *reinterpret_cast<const Vector*>(x + i * x_step + k);
#pragma unroll
    for (int j = 0; j < unit_tile; ++j) {
      units[j] = *reinterpret_cast<const Vector*>(w + j * w_step + k);
    }
#pragma unroll
    for (int e = 0; e < length; ++e) {
#pragma unroll
      for (int i = 0; i < row_tile; ++i) {
#pragma unroll
        for (int j = 0; j < unit_tile; ++j) sums[i][j] += rows[i].values[e] * units[j].values[e];
      }
    }
  }
  T* const to = s.partials() + tile.part * row_groups * row_tile * s.sizes.units + tile.across * unit_tile;
#pragma unroll
  for (int i = 0; i < row_tile; ++i) {
#pragma unroll
    for (int j = 0; j < unit_tile; j += length) {
      Vector vector;
#pragma unroll
      for (int e = 0; e < length; ++e) vector.values[e] = sums[i][j + e];
      *reinterpret_cast<Vector*>(to + (tile.down + i * row_groups) * s.sizes.units + j) = vector;
    }
  }
}
//! [forward]

//! [backward]
/// partials[part][unit][k] = the sum over the part's rows of input[row][k] dhidden[row][unit].
/// @param dhidden [rows][units]
template <int unit_tile, typename T>
__device__ void multiply_backward(const Slice<T>& s, const TilePart& tile, int parts, const T* input,
                                  const T* dhidden) {
  using Vector = shared_memory::Vector<T>;
  constexpr int length = Vector::length;
  if (!tile.exists()) return;
  const int unit_groups = s.sizes.unit_groups;
  const int per_part = (s.sizes.rows + parts - 1) / parts;
  const int begin = tile.part * per_part;
  const int end = min(s.sizes.rows, begin + per_part);
  const T* x = input + begin * s.sizes.k_stride + tile.down * length;
  const T* d = dhidden + begin * s.sizes.units + tile.across * length;

  T sums[length][unit_tile] = {};
#pragma unroll 4
  for (int row = begin; row < end; ++row) {
    const Vector inputs = *reinterpret_cast<const Vector*>(x);
    Vector units[unit_tile / length];
#pragma unroll
    for (int j = 0; j < unit_tile / length; ++j) {
      units[j] = *reinterpret_cast<const Vector*>(d + j * unit_groups * length);
    }
    x += s.sizes.k_stride;
    d += s.sizes.units;
#pragma unroll
    for (int e = 0; e < length; ++e) {
#pragma unroll
      for (int j = 0; j < unit_tile; ++j) {
        sums[e][j] += inputs.values[e] * units[j / length].values[j % length];
      }
    }
  }
  T* const to = s.partials() + tile.part * s.sizes.units * s.sizes.k_stride + tile.down * length;
#pragma unroll
  for (int j = 0; j < unit_tile; ++j) {
    const int unit = (j / length * unit_groups + tile.across) * length + j % length;
    Vector vector;
#pragma unroll
    for (int e = 0; e < length; ++e) vector.values[e] = sums[e][j];
    *reinterpret_cast<Vector*>(to + row_of_unit<unit_tile>(unit, unit_groups) * s.sizes.k_stride) = vector;
  }
}
//! [backward]

/// Adds up the threads' parts of the gradient and updates the slice of the weights, including the
/// padding of its rows, whose results are never read.
template <typename T>
__device__ void update_weights(const Slice<T>& s, int parts, T learning_rate, T l2) {
  using Vector = shared_memory::Vector<T>;
  const int part = s.sizes.units * s.sizes.k_stride;
  for_each(part / Vector::length, [&](int i) {
    const T* const from = s.partials() + i * Vector::length;
    Vector gradient = *reinterpret_cast<const Vector*>(from);
#pragma unroll 4
    for (int p = 1; p < parts; ++p) {
      const Vector next = *reinterpret_cast<const Vector*>(from + p * part);
#pragma unroll
      for (int e = 0; e < Vector::length; ++e) gradient.values[e] += next.values[e];
    }
    Vector& weight = *reinterpret_cast<Vector*>(s.weight() + i * Vector::length);
#pragma unroll
    for (int e = 0; e < Vector::length; ++e) {
      weight.values[e] -= learning_rate * (gradient.values[e] + l2 * weight.values[e]);
    }
  });
}

}  // namespace stagewise::minibatch::persistent
