// Blocks of a launch. Variant 0 is right; the others make one mistake each, at the lines that say
// so.
#include <cooperative_groups.h>

#include "device_memory.h"

namespace cg = cooperative_groups;
constexpr int threads = 64;
constexpr int blocks = 4;

__device__ unsigned arrived = 0;
__device__ float largest = 0;

__global__ void add_up(int variant, const float* x, float* y) {
  const float own = x[blockIdx.x];
  if (threadIdx.x != 0) return;
  if (variant == 1) {
    *y += own;  // 1: race
  } else {
    atomicAdd(y, own);
  }
  if (variant == 7) {
    if (largest < own + blockIdx.x) largest = own + blockIdx.x;  // 7: race
  }
}

// The last block adds up what all have computed.
__global__ void sum(int variant, const float* x, float* parts, float* y) {
  __shared__ bool is_last;
  const float own = x[blockIdx.x * threads + threadIdx.x];
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = own;  // 2: race, 4: race
    if (variant != 2) __threadfence();
    unsigned before;
    if (variant == 3) {
      before = arrived++;  // 3: race
    } else {
      before = atomicAdd(&arrived, 1U);
    }
    is_last = before == gridDim.x - 1;
  }
  __syncthreads();
  if (variant != 4 && !is_last) return;
  float all = 0;
  for (int i = 0; i < gridDim.x; ++i) {
    if (variant != 4 || i == (blockIdx.x + 1) % gridDim.x) all += parts[i];  // 2: race, 4: race
  }
  if (threadIdx.x == 0 && is_last) {
    *y = all;
    arrived = 0;
  }
}

__global__ void histogram(int variant, const unsigned char* pixels, int* bins) {
  const int bin = pixels[blockIdx.x * threads + threadIdx.x];
  if (variant == 5) {
    bins[bin % 2]++;  // 5: race
  } else {
    atomicAdd(&bins[bin], 1);
  }
}

// Neighbouring bytes belong to different threads, at the borders to different blocks.
__global__ void invert(int variant, const unsigned char* pixels, unsigned char* y) {
  const int i = blockIdx.x * (threads - 1) + threadIdx.x;
  if (threadIdx.x == threads - 1 && variant != 6) return;
  y[i] = 255 - pixels[i + blockIdx.x % 2];  // 6: race
}

// What the language calls races, but is right: the same value from all, and a guess at what others
// change atomically.
__global__ void find(const unsigned char* pixels, int* found) {
  if (pixels[blockIdx.x * threads + threadIdx.x] < 9) *found = 1;
}
__global__ void find_largest(const unsigned char* pixels, int* place) {
  const int own = pixels[blockIdx.x * threads + threadIdx.x];
  int now = *place;
  int assumed;
  do {
    assumed = now;
    now = atomicCAS(place, assumed, max(assumed, own));
  } while (now != assumed);
}

__global__ void two_steps(int variant, float* x, float* y) {
  const int i = blockIdx.x * threads + threadIdx.x;
  x[i] = i;  // 8: race
  if (variant != 8) cg::this_grid().sync();
  y[i] = x[(i + threads) % (blocks * threads)];  // 8: race
}

int main(int, char** arguments) {
  int variant = std::atoi(arguments[1]);
  const int n = blocks * threads;
  auto* x = zeros<float>(n);
  auto* y = zeros<float>(n);
  auto* const parts = zeros<float>(blocks);
  auto* const pixels = unset<unsigned char>(n);
  auto* const inverted = unset<unsigned char>(n);
  auto* const bins = zeros<int>(256);
  unsigned char host[n];
  for (int i = 0; i < n; ++i) host[i] = i * i;
  cudaMemcpy(pixels, host, n, cudaMemcpyHostToDevice);
  add_up<<<blocks, threads>>>(variant, x, y);
  sum<<<blocks, threads>>>(variant, x, parts, y);
  sum<<<blocks, threads>>>(variant, x, parts, y);
  histogram<<<blocks, threads>>>(variant, pixels, bins);
  invert<<<blocks, threads>>>(variant, pixels, inverted);
  find<<<blocks, threads>>>(pixels, bins);
  find_largest<<<blocks, threads>>>(pixels, bins);
  void* parameters[] = {&variant, &x, &y};
  cudaLaunchCooperativeKernel((void*)two_steps, dim3(blocks), dim3(threads), parameters, 0, 0);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
