// rand() in a kernel.
#include <stdlib.h>

__device__ int drawn() { return rand() % 6; }

__global__ void dice(int *values) { values[threadIdx.x] = drawn(); }

int main(void) {
  int *values;
  cudaMalloc(&values, 32 * sizeof(int));
  dice<<<1, 32>>>(values);
}
