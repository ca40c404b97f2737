#include <cstdio>

__device__ __forceinline__ unsigned int lane_id() {
  unsigned int lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
__global__ void print() { std::printf("%u\n", lane_id()); }
int main() { print<<<1, 1>>>(); return cudaDeviceSynchronize(); }
