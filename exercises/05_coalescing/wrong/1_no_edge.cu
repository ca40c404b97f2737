// expect: beyond the end
__global__ void square_kernel(int n, float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] *= x[i];
}

void square_all(int n, float* x) {
  square_kernel<<<(n + 127) / 128, 128>>>(n, x);
}
