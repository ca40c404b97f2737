#include <cstdio>

__device__ __forceinline__ unsigned int reversed_bytes(unsigned int x) {
  unsigned int y;
  asm("prmt.b32 %0, %1, 0, 0x0123;" : "=r"(y) : "r"(x));
  return y;
}
__global__ void print() { std::printf("%x\n", reversed_bytes(0x01020304)); }
int main() { print<<<1, 1>>>(); return cudaDeviceSynchronize(); }
