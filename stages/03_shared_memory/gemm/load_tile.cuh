/// @file
/// How the rungs with register tiles fill shared memory, whichever way the matrix lies.
#pragma once

#include "02_naive_cuda/operand.cuh"

namespace stagewise::shared_memory {

/// Loads `extent` rows (of A) or columns (of B) and BK steps along k into shared memory, as
/// tile[step][row or column], with zeros beyond the edges. Threads with neighbouring numbers load
/// neighbours in memory. All `threads` threads of the block call it.
/// @param data element (i, step) is at data[i * across + step * along]; one of the two is 1.
/// @param first the first row or column, and `end` one past the last that there is.
/// @param step the first step, and `steps` one past the last that there is.
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
