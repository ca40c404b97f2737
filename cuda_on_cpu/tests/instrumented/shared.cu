// Threads of a block that share memory. Variant 0 is right; the others make one mistake each, at
// the lines that say so.
#include <cuda_pipeline.h>

#include "device_memory.h"

constexpr int threads = 64;
constexpr int tile = 8;

__global__ void normalize(int variant, const float* x, float* y) {
  __shared__ float partial[threads];
  const int t = threadIdx.x;
  partial[t] = x[t];
  __syncthreads();
  for (int width = threads / 2; width > 0; width /= 2) {
    if (t < width) {
      partial[t] += partial[t + width];  // 1: race, 2: race
    }
    if (variant != 1 && (variant != 2 || width > 1)) __syncthreads();
  }
  const float sum = partial[0];  // 2: race, 3: race
  if (variant != 3) __syncthreads();
  partial[t] = x[t] / sum;  // 3: race
  y[t] = partial[t];
}

__global__ void count_positive(int variant, const float* x, int* y) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;  // 4: race
  if (variant != 4) __syncthreads();
  if (x[threadIdx.x] > 0) {
    atomicAdd(&count, 1);  // 4: race, 5: race
  }
  if (variant != 5) __syncthreads();
  if (threadIdx.x == 5) *y = count;  // 5: race
}

__global__ void scan(int variant, const float* x, float* y) {
  __shared__ float parts[2][threads];
  const int t = threadIdx.x;
  int from = 0;
  parts[0][t] = x[t];
  __syncthreads();
  for (int step = 1; step < threads; step *= 2) {
    const float own = parts[from][t];
    const float left = t >= step ? parts[from][t - step] : 0;  // 6: race
    parts[1 - from][t] = own + left;                           // 6: race
    from = 1 - from;
    if (variant != 6) __syncthreads();
  }
  y[t] = parts[from][t];
}

__global__ void keep_odd(int variant, float* y, int* count) {
  __shared__ int next;
  if (threadIdx.x == 0) next = 0;
  __syncthreads();
  if (threadIdx.x % 2 != 0) {
    int place;
    if (variant == 7) {
      place = next++;  // 7: race
    } else {
      place = atomicAdd(&next, 1);
    }
    y[variant == 8 ? 0 : place] = threadIdx.x;  // 8: race
  }
  __syncthreads();
  if (threadIdx.x == 0) *count = next;
}

__global__ void multiply(int variant, int n, const float* a, const float* b, float* c) {
  __shared__ float as[tile][tile];
  __shared__ float bs[tile][tile];
  const int row = blockIdx.y * tile + threadIdx.y;
  const int column = blockIdx.x * tile + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += tile) {
    if (variant != 10 || threadIdx.x < tile - 1) {
      as[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];  // 9: race
    }
    bs[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (int i = 0; i < tile; ++i) {
      sum += as[threadIdx.y][i] *  // 9: race, 10: unwritten
             bs[i][threadIdx.x];
    }
    if (variant != 9) __syncthreads();
  }
  c[row * n + column] = sum;
}

// Two tiles, one of which is copied while the other is used.
__global__ void add_up(int variant, int n, const float* x, float* y) {
  __shared__ float part[2][64];
  const int t = threadIdx.x;
  const auto fetch = [&](int i) {
    __pipeline_memcpy_async(&part[i % 2][t], &x[i * 64 + t], sizeof(float));  // 11: race, 12: race
    __pipeline_commit();
  };
  float sum = 0;
  fetch(0);
  for (int i = 0; i < n; ++i) {
    if (i + 1 < n) fetch(i + 1);
    __pipeline_wait_prior(i + 1 < n || variant == 13 ? 1 : 0);
    if (variant != 11) __syncthreads();
    sum += part[i % 2][63 - t];  // 11: race, 12: race, 13: copy
    if (variant != 12) __syncthreads();
  }
  y[t] = sum;
}

// The last copy brings less, and zeros instead.
__global__ void copy_with_zeros(const float* x, float* y) {
  __shared__ float4 part[4];
  __pipeline_memcpy_async(&part[threadIdx.x], &x[threadIdx.x * 4], 16, threadIdx.x == 3 ? 8 : 0);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  y[threadIdx.x] = part[threadIdx.x].x + part[threadIdx.x].w;
}

// volatile keeps a value out of registers, but no lane waits for another.
__global__ void warp_sum(int variant, const float* x, float* y) {
  __shared__ float s[threads];
  volatile float* const v = s;
  const int t = threadIdx.x;
  v[t] = x[t];
  __syncwarp();
  for (int width = 16; width > 0; width /= 2) {
    const float other = t < width ? v[t + width] : 0;  // 14: race
    if (variant != 14) __syncwarp();
    v[t] += other;  // 14: race
    __syncwarp();
  }
  if (t == 0) *y = v[0];
}

// A lane that waits for another one: here, a volatile variable is a flag.
__global__ void hand_over(float* y) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 3) flag = 1;
  while (flag == 0) {
  }
  y[threadIdx.x] = flag;
}

int main(int, char** arguments) {
  const int variant = std::atoi(arguments[1]);
  const int n = 32;
  static float host[n * n];
  for (int i = 0; i < n * n; ++i) host[i] = 1;
  auto* const a = unset<float>(n * n);
  auto* const b = unset<float>(n * n);
  auto* const c = unset<float>(n * n);
  auto* const count = unset<int>(1);
  cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemcpy(b, host, sizeof host, cudaMemcpyHostToDevice);
  normalize<<<1, threads>>>(variant, a, c);
  count_positive<<<1, threads>>>(variant, a, count);
  int positive = 0;
  cudaMemcpy(&positive, count, sizeof positive, cudaMemcpyDeviceToHost);
  scan<<<1, threads>>>(variant, a, c);
  keep_odd<<<1, threads>>>(variant, c, count);
  multiply<<<dim3(n / tile, n / tile), dim3(tile, tile)>>>(variant, n, a, b, c);
  add_up<<<1, 64>>>(variant, 16, a, b);
  copy_with_zeros<<<1, 4>>>(a, b);
  warp_sum<<<1, 32>>>(variant, a, b);
  hand_over<<<1, 32>>>(b);
  return cudaDeviceSynchronize() == cudaSuccess && positive == threads ? 0 : 1;
}
