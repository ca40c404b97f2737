/// @file
/// How rungs 6 and 7 fill shared memory, whether the matrix is transposed or not.
#pragma once

#include <cuda_runtime.h>

#include "network/operand.hpp"

namespace stagewise::shared_memory {

/// Loads `extent` rows (of A) or columns (of B) and BK steps along k into shared memory, as
/// tile[step][row or column], with zeros beyond the edges. Neighbouring threads load neighbours in
/// memory. All `threads` threads of the block call it.
/// @param data element (i, step) is data[i * across + step * along]; one of the strides is 1.
/// @param first the tile's first row or column; `end` is one past the matrix's last.
/// @param step the tile's first step; `steps` is one past the matrix's last.
//! [load_tile]
template <int threads, int extent, int BK, int pitch, typename T>
__device__ void load_tile(T (&tile)[BK][pitch], const T* data, Index across, Index along,
                          Index first, Index end, Index step, Index steps) {
  const bool memory_runs_along = along == 1;
#pragma unroll
  for (int i = static_cast<int>(threadIdx.x); i < extent * BK; i += threads) {
    const int place = memory_runs_along ? i / BK : i % extent;
    const int s = memory_runs_along ? i % BK : i / extent;
    const bool is_inside = first + place < end && step + s < steps;
    tile[s][place] = is_inside ? data[(first + place) * across + (step + s) * along] : T{0};
  }
}
//! [load_tile]

}  // namespace stagewise::shared_memory
