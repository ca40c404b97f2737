// expect: a single block, of 1024 threads
__global__ void square_kernel(int n, float* x) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] *= x[i];
}

void square_all(int n, float* x) {
  square_kernel<<<1, 1024>>>(n, x);
}
