/// @file
/// How rungs 6 and 7 fill shared memory, whether the matrix is transposed or not.
#pragma once

#include <cuda_runtime.h>

#include "tensor/shape.hpp"

namespace stagewise::shared_memory {

/// `extent` rows of A, or columns of B, and BK steps along k, in shared memory. The padding of 16
/// bytes keeps what the threads read together in different banks, and lets the compiler read
/// neighbours as one.
template <typename T, int extent, int BK>
struct alignas(16) KTile {
  T values[BK][extent + 16 / sizeof(T)];
};

/// Loads a k tile, with zeros beyond the edges. Neighbouring threads load neighbours in memory. All
/// `threads` threads of the block call it.
/// @param data element (i, step) is data[i * row_stride + step * step_stride]; one of the strides
/// is 1.
/// @param first the tile's first row or column; `end` is one past the matrix's last.
/// @param step the tile's first step; `steps` is one past the matrix's last.
//! [load_tile]
template <int threads, int extent, int BK, typename T>
__device__ void load_tile(KTile<T, extent, BK>& tile, const T* data, Index row_stride,
                          Index step_stride, Index first, Index end, Index step, Index steps) {
  const bool k_major = step_stride == 1;
#pragma unroll
  for (int i = static_cast<int>(threadIdx.x); i < extent * BK; i += threads) {
    const int row = k_major ? i / BK : i % extent;
    const int s = k_major ? i % BK : i / extent;
    const bool is_inside = first + row < end && step + s < steps;
    tile.values[s][row] =
        is_inside ? data[(first + row) * row_stride + (step + s) * step_stride] : T{0};
  }
}
//! [load_tile]

}  // namespace stagewise::shared_memory
