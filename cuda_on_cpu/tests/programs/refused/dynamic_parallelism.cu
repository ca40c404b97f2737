#include <stdio.h>
#define LAUNCH(kernel, ...) kernel<<<1, 32>>>(__VA_ARGS__)

__global__ void child(int *x) { x[threadIdx.x] = threadIdx.x; }

__global__ void parent(int *x)
{
    if (threadIdx.x == 0)
        LAUNCH(child, x);
}

int main(void)
{
    int *x;
    cudaMalloc((void **)&x, 32 * sizeof(int));
    LAUNCH(parent, x);
    return cudaDeviceSynchronize();
}
