// The host calls a function that is the device's alone.
#include <stdio.h>

__device__ float square(float x) { return x * x; }

__global__ void squares(float *values) { values[threadIdx.x] = square(values[threadIdx.x]); }

int main(void) {
  printf("%g\n", square(2));
}
