// A warp's sum as it was written before CUDA 9.
#include <stdio.h>

__global__ void warp_sum(int *values) {
  int value = values[threadIdx.x];
  for (int offset = warpSize / 2; offset > 0; offset /= 2)
    value += __shfl_down(value, offset);
  if (threadIdx.x == 0) values[0] = value;
}

int main(void) {
  int *values;
  cudaMallocManaged(&values, 32 * sizeof(int));
  for (int i = 0; i < 32; ++i) values[i] = i;
  warp_sum<<<1, 32>>>(values);
  cudaDeviceSynchronize();
  printf("%d\n", values[0]);
  return 0;
}
