// Bitonic sort of one block in shared memory, then of a whole array step by step.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <algorithm>

__device__ inline void comparator(unsigned &keyA, unsigned &valA, unsigned &keyB, unsigned &valB, unsigned dir) {
  if ((keyA > keyB) == dir) {
    unsigned t = keyA; keyA = keyB; keyB = t;
    t = valA; valA = valB; valB = t;
  }
}

template <unsigned SIZE>
__global__ void __launch_bounds__(SIZE / 2) bitonicSortShared(unsigned *keys, unsigned *vals, unsigned dir) {
  __shared__ unsigned s_key[SIZE];
  __shared__ unsigned s_val[SIZE];
  keys += blockIdx.x * SIZE + threadIdx.x;
  vals += blockIdx.x * SIZE + threadIdx.x;
  s_key[threadIdx.x] = keys[0];
  s_val[threadIdx.x] = vals[0];
  s_key[threadIdx.x + SIZE / 2] = keys[SIZE / 2];
  s_val[threadIdx.x + SIZE / 2] = vals[SIZE / 2];
  for (unsigned size = 2; size <= SIZE; size <<= 1) {
    unsigned ddd = size < SIZE ? dir ^ ((threadIdx.x & (size / 2)) != 0) : dir;
    for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      comparator(s_key[pos], s_val[pos], s_key[pos + stride], s_val[pos + stride], ddd);
    }
  }
  __syncthreads();
  keys[0] = s_key[threadIdx.x];
  vals[0] = s_val[threadIdx.x];
  keys[SIZE / 2] = s_key[threadIdx.x + SIZE / 2];
  vals[SIZE / 2] = s_val[threadIdx.x + SIZE / 2];
}

__global__ void bitonicStep(float *x, int j, int k) {
  unsigned i = threadIdx.x + blockDim.x * blockIdx.x, other = i ^ j;
  if (other > i) {
    bool up = (i & k) == 0;
    if ((x[i] > x[other]) == up) { float t = x[i]; x[i] = x[other]; x[other] = t; }
  }
}

// A warp sorts its 32 values in registers.
__global__ void sortWarp(int *x) {
  int v = x[threadIdx.x], lane = threadIdx.x & 31;
  for (int k = 2; k <= 32; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      int other = __shfl_xor_sync(0xffffffff, v, j);
      bool smaller = ((lane & k) == 0) == ((lane & j) == 0);
      v = smaller ? min(v, other) : max(v, other);
    }
  x[threadIdx.x] = v;
}

int main() {
  const unsigned N = 512, BLOCKS = 3;
  std::vector<unsigned> key(N * BLOCKS), val(N * BLOCKS);
  srand(7);
  for (unsigned i = 0; i < key.size(); ++i) key[i] = (i * 7919u) % 1009u, val[i] = i;
  std::vector<unsigned> original = key;
  unsigned *d_key, *d_val;
  cudaMalloc((void **)&d_key, key.size() * 4);
  cudaMalloc((void **)&d_val, key.size() * 4);
  cudaMemcpy(d_key, key.data(), key.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(d_val, val.data(), key.size() * 4, cudaMemcpyHostToDevice);
  bitonicSortShared<N><<<BLOCKS, N / 2>>>(d_key, d_val, 1);
  cudaMemcpy(key.data(), d_key, key.size() * 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(val.data(), d_val, key.size() * 4, cudaMemcpyDeviceToHost);
  bool ok = true;
  for (unsigned b = 0; b < BLOCKS; ++b) ok = ok && std::is_sorted(&key[b * N], &key[b * N] + N);
  for (unsigned i = 0; i < key.size(); ++i) ok = ok && original[val[i]] == key[i];
  printf("blocks: %s\n", ok ? "sorted" : "NOT SORTED");

  const int n = 2048;
  float *x;
  cudaMallocManaged(&x, n * sizeof(float));
  for (int i = 0; i < n; ++i) x[i] = (float)((i * 1103) % 2048) - 1000.5f;
  for (int k = 2; k <= n; k <<= 1)
    for (int j = k >> 1; j > 0; j >>= 1) bitonicStep<<<n / 256, 256>>>(x, j, k);
  cudaDeviceSynchronize();
  printf("array: %s, %.1f to %.1f\n", std::is_sorted(x, x + n) ? "sorted" : "NOT SORTED", x[0], x[n - 1]);

  int *w;
  cudaMallocManaged(&w, 64 * sizeof(int));
  for (int i = 0; i < 64; ++i) w[i] = (i * 29) % 64 - 20;
  sortWarp<<<1, 64>>>(w);
  cudaDeviceSynchronize();
  printf("warps: %s\n", std::is_sorted(w, w + 32) && std::is_sorted(w + 32, w + 64) ? "sorted" : "NOT SORTED");
  cudaFree(d_key); cudaFree(d_val); cudaFree(x); cudaFree(w);
}
