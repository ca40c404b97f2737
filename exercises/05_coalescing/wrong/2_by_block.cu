// expect: takes 16 sectors
// Threads of a block take neighbours in turn, but only within the block's part.
__global__ void square_kernel(int n, float* x) {
  for (int k = 0; k < 2; ++k) {
    const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) * 2 + k;
    if (i < n) x[i] *= x[i];
    if (i + 2 < n) x[i + 2] *= x[i + 2];
  }
}

void square_all(int n, float* x) {
  square_kernel<<<(n + 511) / 512, 128>>>(n, x);
}
