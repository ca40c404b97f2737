#include <cuda_runtime.h>

__global__ void fetch(float *out, cudaTextureObject_t image) { out[threadIdx.x] = tex1Dfetch<float>(image, threadIdx.x); }
int main() {}
