// expect: y is right up to \[767\] and unchanged from \[768\] on
/// Thread i computes element i.
__global__ void axpy_kernel(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

/// y = a x + y, for n numbers in memory of the GPU.
void axpy(int n, float a, const float* x, float* y) {
  const int threads = 256;
  const int blocks = n / threads;
  axpy_kernel<<<blocks, threads>>>(n, a, x, y);
}
