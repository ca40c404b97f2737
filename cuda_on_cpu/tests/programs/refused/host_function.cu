// A kernel calls a function that is the host's alone.
#include <stdio.h>

float square(float x) { return x * x; }

__global__ void squares(float *values) {
  values[threadIdx.x] = square(values[threadIdx.x]);
}

int main(void) {
  float *values;
  cudaMallocManaged(&values, 32 * sizeof(float));
  squares<<<1, 32>>>(values);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
