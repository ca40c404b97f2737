// What a thread reads about itself by inline PTX, as articles on warps do.
#include <cstdio>

static __device__ __inline__ unsigned smid() {
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}
static __device__ __inline__ unsigned lane_mask_lt() {
  unsigned mask;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
  return mask;
}
static __device__ unsigned long long now() {
  unsigned long long time;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
  return time;
}

__global__ void ranks(const int* values, int n, int* places) {
  unsigned warp, thread, block, threads;
  asm("mov.u32 %0, %%warpid;" : "=r"(warp));
  asm("mov.u32 %0, %%tid.x;" : "=r"(thread));
  asm("mov.u32 %0, %%ctaid.x;" : "=r"(block));
  asm("mov.u32 %0, %%ntid.x;" : "=r"(threads));
  unsigned long long begin = now();
  int i = block * threads + thread;
  bool wanted = i < n && values[i] % 3 == 0;
  unsigned votes = __ballot_sync(0xffffffff, wanted);
  if (i < n) places[i] = wanted ? __popc(votes & lane_mask_lt()) + 100 * (int)warp : -1;
  if (smid() > 1000 || now() < begin) places[i] = -2;
}

int main() {
  const int n = 96;
  int *values, *places;
  cudaMallocManaged(&values, n * sizeof(int));
  cudaMallocManaged(&places, n * sizeof(int));
  for (int i = 0; i < n; ++i) values[i] = i;
  ranks<<<2, 64>>>(values, n, places);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (int i = 0; i < n; i += 9) printf("%d ", places[i]);
  printf("\n");
}
