// A reduction of 2008: the last warp waits for nobody, since its threads went in lockstep.
#include "../expect.h"

#define N 4096
#define THREADS 128

template <unsigned int size, typename T>
__device__ void last_warp(volatile T *partial, unsigned int t) {
  if (size >= 64) partial[t] += partial[t + 32];
  if (size >= 32) partial[t] += partial[t + 16];
  if (size >= 16)
    partial[t] += partial[t + 8];
  else
    partial[t] = 0;
  partial[t] += partial[t + 4];
  partial[t] += partial[t + 2];
  partial[t] += partial[t + 1];
}

template <unsigned int size>
__global__ void sum(const int *in, int *out) {
  extern __shared__ int partial[];
  unsigned int t = threadIdx.x, i = blockIdx.x * size * 2 + t;
  partial[t] = in[i] + in[i + size];
  __syncthreads();
  if (size >= 128) {
    if (t < 64) partial[t] += partial[t + 64];
    __syncthreads();
  }
  if (t < 32) last_warp<size>(partial, t);
  if (t == 0) out[blockIdx.x] = partial[0];
}

// The branches of the tree within one warp, each for fewer lanes; the running value is in a register, too.
__global__ void maximum(const int *in, int *out) {
  __shared__ volatile int best[32];
  int t = threadIdx.x;
  int mine;
  best[t] = mine = in[t];
  if (t < 16) best[t] = mine = max(mine, best[t + 16]);
  if (t < 8) { best[t] = mine = max(mine, best[t + 8]); }
  for (int far = 4; far > 0; far >>= 1)
    if (t < far) best[t] = mine = mine > best[t + far] ? mine : best[t + far];
  if (t == 0) *out = best[0];
}

int main(void) {
  int *in = zeros<int>(N), *partial = zeros<int>(N / THREADS / 2), total = 0, expected = 0;
  for (int i = 0; i < N; ++i) expected += in[i] = (i * 7919) % 1013;
  sum<THREADS><<<N / THREADS / 2, THREADS, THREADS * sizeof(int)>>>(in, partial);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < N / THREADS / 2; ++i) total += partial[i];
  EXPECT(total == expected);

  maximum << <1, 32 >> > (in, partial);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; ++i) expected = i == 0 || in[i] > expected ? in[i] : expected;
  EXPECT(*partial == expected);
}
