#include <stdio.h>
#include "curand_kernel.h"

__global__ void setup(curandState *states) { curand_init(1234, threadIdx.x, 0, &states[threadIdx.x]); }
int main(void) { return 0; }
