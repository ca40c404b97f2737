// expect: only 1 block of 1 thread; .* 4096 threads, one for each number
__global__ void axpy_kernel(int n, float a, const float* x, float* y) {
  for (int i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}

void axpy(int n, float a, const float* x, float* y) {
  axpy_kernel<<<1, 1>>>(n, a, x, y);
}
