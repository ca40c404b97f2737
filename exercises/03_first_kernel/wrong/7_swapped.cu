// expect: 256 blocks of 16 threads: .*are blocks and threads swapped
__global__ void axpy_kernel(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

void axpy(int n, float a, const float* x, float* y) {
  axpy_kernel<<<256, (n + 255) / 256>>>(n, a, x, y);
}
