// Pi by a hand-written generator (xorshift and splitmix), counted by votes of a warp.
#include <stdint.h>
#include <stdio.h>
#include <math.h>

#define THREADS 128
#define BLOCKS 16
#define SAMPLES 200

struct Rng {
  uint32_t x, y, z, w;
  __device__ explicit Rng(uint64_t seed) {
    uint64_t s = seed * 0x9E3779B97F4A7C15ull + 1;
    s ^= s >> 30; s *= 0xBF58476D1CE4E5B9ull;
    s ^= s >> 27; s *= 0x94D049BB133111EBull;
    s ^= s >> 31;
    x = (uint32_t)s | 1u;
    y = (uint32_t)(s >> 32);
    z = __umulhi(x, 0x85ebca6bu) ^ 362436069u;
    w = __funnelshift_l(y, x, 13);
  }
  __device__ uint32_t next() {
    uint32_t t = x ^ (x << 11);
    x = y; y = z; z = w;
    return w = w ^ (w >> 19) ^ t ^ (t >> 8);
  }
  __device__ float uniform() { return __uint2float_rz(next()) * 2.3283064e-10f; }
};

__global__ void countHits(unsigned long long *hits, unsigned *parity) {
  Rng rng(blockIdx.x * blockDim.x + threadIdx.x);
  unsigned mine = 0;
  for (int i = 0; i < SAMPLES; ++i) {
    float2 p = make_float2(rng.uniform(), rng.uniform());
    unsigned vote = __ballot_sync(0xffffffffu, p.x * p.x + p.y * p.y < 1.0f);
    if ((threadIdx.x & 31) == 0) mine += __popc(vote);
  }
  if (mine) atomicAdd(hits, (unsigned long long)mine);
  int odd = __syncthreads_count(rng.x & 1);
  if (threadIdx.x == 0) atomicXor(parity, odd);
}

int main(void) {
  unsigned long long *d_hits, hits;
  unsigned *d_parity, parity;
  cudaMalloc((void **)&d_hits, sizeof hits);
  cudaMalloc((void **)&d_parity, sizeof parity);
  cudaMemset(d_hits, 0, sizeof hits);
  cudaMemset(d_parity, 0, sizeof parity);
  clock_t begin = clock();
  countHits<<<BLOCKS, THREADS>>>(d_hits, d_parity);
  cudaMemcpy(&hits, d_hits, sizeof hits, cudaMemcpyDeviceToHost);
  cudaMemcpy(&parity, d_parity, sizeof parity, cudaMemcpyDeviceToHost);
  double pi = 4.0 * hits / ((double)BLOCKS * THREADS * SAMPLES);
  printf("pi is about %.2f, %s\n", pi, fabs(pi - M_PI) < 0.02 ? "near enough" : "TOO FAR");
  printf("%s\n", parity < THREADS * 2 && clock() >= begin ? "done" : "?");
  return 0;
}
