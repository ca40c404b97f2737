#pragma once

/// The number of a thread among those of the whole grid.
__device__ inline int global_index() {
  return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}
