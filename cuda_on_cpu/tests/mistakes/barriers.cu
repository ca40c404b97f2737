// Threads that should meet, and do not.

#include "mistakes.cuh"

namespace mistakes {
namespace {

//! [barrier_divergence]
__global__ void left_neighbour(int n, const float* x, float* y) {
  __shared__ float tile[64];
  const int i = threadIdx.x;
  if (i >= n) return;
  tile[i] = x[i];
  __syncthreads();
  y[i] = i > 0 ? tile[i - 1] : 0;
}
//! [barrier_divergence]

//! [barrier_divergence_cured]
__global__ void left_neighbour_cured(int n, const float* x, float* y) {
  __shared__ float tile[64];
  const int i = threadIdx.x;
  if (i < n) tile[i] = x[i];
  __syncthreads();  // all threads of the block come here
  if (i < n) y[i] = i > 0 ? tile[i - 1] : 0;
}
//! [barrier_divergence_cured]

const Mistake barrier_divergence("barrier_divergence", [](bool cured) {
  const int n = 50;
  float* const x = counting(n);
  float* const y = unset(n);
  cured ? left_neighbour_cured<<<1, 64>>>(n, x, y) : left_neighbour<<<1, 64>>>(n, x, y);
  check(cudaDeviceSynchronize());
});

//! [different_barriers]
__global__ void swap_halves(const float* x, float* y) {
  __shared__ float tile[64];
  const int i = threadIdx.x;
  if (i < 32) {
    tile[i + 32] = x[i];
    __syncthreads();
  } else {
    tile[i - 32] = x[i];
    __syncthreads();
  }
  y[i] = tile[i];
}
//! [different_barriers]

//! [different_barriers_cured]
__global__ void swap_halves_cured(const float* x, float* y) {
  __shared__ float tile[64];
  const int i = threadIdx.x;
  if (i < 32) {
    tile[i + 32] = x[i];
  } else {
    tile[i - 32] = x[i];
  }
  __syncthreads();
  y[i] = tile[i];
}
//! [different_barriers_cured]

const Mistake different_barriers("different_barriers", [](bool cured) {
  float* const x = counting(64);
  float* const y = unset(64);
  cured ? swap_halves_cured<<<1, 64>>>(x, y) : swap_halves<<<1, 64>>>(x, y);
  check(cudaDeviceSynchronize());
});

//! [missing_lanes]
__global__ void sum(int n, const float* x, float* total) {
  const int i = threadIdx.x;
  if (i < n) {
    float value = x[i];
    for (int distance = 16; distance > 0; distance /= 2) {
      value += __shfl_down_sync(0xffffffff, value, distance);
    }
    if (i == 0) *total = value;
  }
}
//! [missing_lanes]

//! [missing_lanes_cured]
__global__ void sum_cured(int n, const float* x, float* total) {
  const int i = threadIdx.x;
  float value = i < n ? x[i] : 0;  // all 32 lanes go on, some of them with 0
  for (int distance = 16; distance > 0; distance /= 2) {
    value += __shfl_down_sync(0xffffffff, value, distance);
  }
  if (i == 0) *total = value;
}
//! [missing_lanes_cured]

const Mistake missing_lanes("missing_lanes", [](bool cured) {
  const int n = 20;
  float* const x = counting(n);
  float* const total = unset(1);
  cured ? sum_cured<<<1, 32>>>(n, x, total) : sum<<<1, 32>>>(n, x, total);
  check(cudaDeviceSynchronize());
  expect(total, {210});
});

//! [shuffle_outside_mask]
__global__ void sum_some(unsigned n, const float* x, float* total) {
  const unsigned mask = __ballot_sync(0xffffffff, threadIdx.x < n);
  if (threadIdx.x < n) {
    float value = x[threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) {
      value += __shfl_down_sync(mask, value, distance);
    }
    if (threadIdx.x == 0) *total = value;
  }
}
//! [shuffle_outside_mask]

//! [shuffle_outside_mask_cured]
__global__ void sum_some_cured(unsigned n, const float* x, float* total) {
  const unsigned mask = __ballot_sync(0xffffffff, threadIdx.x < n);
  if (threadIdx.x < n) {
    float value = x[threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) {
      const bool is_there = threadIdx.x + distance < n;
      const float other = __shfl_sync(mask, value, threadIdx.x + (is_there ? distance : 0));
      if (is_there) value += other;
    }
    if (threadIdx.x == 0) *total = value;
  }
}
//! [shuffle_outside_mask_cured]

const Mistake shuffle_outside_mask("shuffle_outside_mask", [](bool cured) {
  const int n = 20;
  float* const x = counting(n);
  float* const total = unset(1);
  cured ? sum_some_cured<<<1, 32>>>(n, x, total) : sum_some<<<1, 32>>>(n, x, total);
  check(cudaDeviceSynchronize());
  expect(total, {210});
});

}  // namespace

}  // namespace mistakes
