// Tiles in shared memory. Variant 0 is right; the others make one mistake each, at the lines that
// say so.
#include <cstdlib>

#include <cuda_pipeline.h>

constexpr int tile = 8;

__global__ void multiply(int variant, int n, const float* a, const float* b, float* c) {
  __shared__ float as[tile][tile];
  __shared__ float bs[tile][tile];
  const int row = blockIdx.y * tile + threadIdx.y;
  const int column = blockIdx.x * tile + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += tile) {
    if (variant != 5 || threadIdx.x < tile - 1) {
      as[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];  // 1: race, 2: race
    }
    bs[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    if (variant != 1) __syncthreads();
    for (int i = 0; i < tile; ++i) {
      sum += as[threadIdx.y][i] *  // 1: race, 2: race, 5: unwritten
             bs[i][threadIdx.x];
    }
    if (variant != 2) __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void transpose(int variant, int n, const float* a, float* b) {
  __shared__ float part[tile][tile + 1];
  const int row = blockIdx.y * tile;
  const int column = blockIdx.x * tile;
  part[threadIdx.y][threadIdx.x] = a[(row + threadIdx.y) * n + column + threadIdx.x];  // 3: race
  if (variant != 3) __syncthreads();
  const float value = part[threadIdx.x][threadIdx.y];  // 3: race
  const int wrong = variant == 4 ? 0 : row;
  b[(column + threadIdx.y) * n + wrong + threadIdx.x] = value;  // 4: race
}

// Two tiles, one of which is copied while the other is used.
__global__ void add_up(int variant, int n, const float* x, float* y) {
  __shared__ float part[2][64];
  const int t = threadIdx.x;
  const auto fetch = [&](int i) {
    __pipeline_memcpy_async(&part[i % 2][t], &x[i * 64 + t], sizeof(float));  // 6: race, 7: race
    __pipeline_commit();
  };
  float sum = 0;
  fetch(0);
  for (int i = 0; i < n; ++i) {
    if (i + 1 < n) fetch(i + 1);
    __pipeline_wait_prior(i + 1 < n || variant == 8 ? 1 : 0);
    if (variant != 6) __syncthreads();
    sum += part[i % 2][63 - t];  // 6: race, 7: race, 8: copy
    if (variant != 7) __syncthreads();
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

int main(int, char** arguments) {
  const int variant = std::atoi(arguments[1]);
  const int n = 32;
  const size_t bytes = n * n * sizeof(float);
  static float host[n * n];
  for (int i = 0; i < n * n; ++i) host[i] = i;
  float *a, *b, *c;
  cudaMalloc(&a, bytes);
  cudaMalloc(&b, bytes);
  cudaMalloc(&c, bytes);
  cudaMemcpy(a, host, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(b, host, bytes, cudaMemcpyHostToDevice);
  const dim3 block(tile, tile);
  multiply<<<dim3(n / tile, n / tile), block>>>(variant, n, a, b, c);
  transpose<<<dim3(n / tile, n / tile), block>>>(variant, n, a, b);
  add_up<<<1, 64>>>(variant, 16, a, b);
  copy_with_zeros<<<1, 4>>>(a, b);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
