/// @file
/// Found beside forms.cu, in its translation.
#pragma once

#include <cuda_runtime.h>

namespace forms {

/// Adds n from each thread, by way of shared memory. The array belongs to each instance of its own.
template <typename T, int threads>
__global__ void by_way_of_tile(int* sum, T n) {
  __shared__ T tile[2][threads + 1];
  tile[1][threadIdx.x] = n;
  __syncthreads();
  atomicAdd(sum, static_cast<int>(tile[1][threads - 1 - threadIdx.x]));
}

inline void launch_from_header(int* sum) {
  by_way_of_tile<double, 4><<<1, 4>>>(sum, 2.0);
}

}  // namespace forms
