// Blocks of a launch, warps, and flags between them. Variant 0 is right; the others make one
// mistake each, at the lines that say so.
#include <cooperative_groups.h>

#include "device_memory.h"

namespace cg = cooperative_groups;
constexpr unsigned all = 0xffffffff;
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

__global__ void warp_sum(int variant, const float* x, float* y) {
  __shared__ float part[64];
  const unsigned t = threadIdx.x;
  const unsigned lane = t % 32;
  part[t] = x[t];
  __syncthreads();
  for (unsigned width = 16; width > 0; width /= 2) {
    float other = 0;
    if (lane < width) other = part[t + width];  // 9: race
    if (lane < width) part[t] += other;         // 9: race, 11: race
    if (variant != 9) __syncwarp();
  }
  if (variant != 11) __syncthreads();
  if (t == 63) {
    y[0] = part[32] + part[0];  // 11: race
  }
}

// Halves of the warp, which wait for themselves only.
__global__ void halves(int variant, float* y) {
  __shared__ float part[32];
  const unsigned lane = threadIdx.x;
  part[lane] = lane;  // 10: race
  __syncwarp(lane < 16 ? 0x0000ffffU : 0xffff0000U);
  const unsigned other = variant == 10 && lane >= 16 ? lane ^ 16U : lane ^ 8U;
  y[lane] = part[other];  // 10: race
}

// What lane 0 has written before it meets lane 8, lane 16 knows after it has met lane 8.
__global__ void transitive(float* y) {
  __shared__ float part[32];
  const unsigned lane = threadIdx.x;
  if (lane == 0) part[0] = 1;
  if (lane < 16) __syncwarp(0x0000ffffU);
  if (lane >= 8 && lane < 24) __syncwarp(0x00ffff00U);
  if (lane == 16) y[0] = part[0];
  if (lane == 24) part[1] = 2;
  if (lane >= 24) __syncwarp(0xff000000U);
  if (lane == 31) y[1] = part[1];
}

__global__ void broadcast(int variant, float* y) {
  __shared__ float first;
  const unsigned t = threadIdx.x;
  if (t == 0) first = 3;  // 12: race
  const int sum = variant == 12 ? 1 : __shfl_sync(all, 1, 0);
  y[t] = first + sum;  // 12: race
}

__global__ void tiles_of_eight(float* y) {
  __shared__ float part[64];
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  part[threadIdx.x] = 1;
  tile.sync();
  y[threadIdx.x] = part[threadIdx.x ^ 7U];
}

// A warp waits for another by a flag.
__global__ void flag(int variant, float* y) {
  __shared__ float message;
  __shared__ int ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    message = 5;  // 13: race
    if (variant != 13) __threadfence_block();
    *const_cast<volatile int*>(&ready) = 1;
  } else if (threadIdx.x == 32) {
    while (*const_cast<volatile int*>(&ready) == 0) {
    }
    *y = message;  // 13: race
  }
}

// A lock.
__global__ void add_one_by_one(int variant, int* lock, float* y) {
  bool is_done = false;
  while (!is_done) {
    if (variant == 14 || atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *y += 1;  // 14: race
      __threadfence();
      atomicExch(lock, 0);
      is_done = true;
    }
  }
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
  auto* const lock = zeros<int>(1);
  unsigned char host[n];
  for (int i = 0; i < n; ++i) host[i] = i * i;
  cudaMemcpy(pixels, host, n, cudaMemcpyHostToDevice);
  warp_sum<<<1, 64>>>(variant, x, y);
  halves<<<1, 32>>>(variant, y);
  transitive<<<1, 32>>>(y);
  broadcast<<<1, 32>>>(variant, y);
  tiles_of_eight<<<1, 64>>>(y);
  flag<<<1, 64>>>(variant, y);
  add_one_by_one<<<2, 64>>>(variant, lock, y);
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
