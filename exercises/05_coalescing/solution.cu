/// Squares n numbers in memory of the GPU: thread i squares number i, so that the threads of a warp
/// read 32 neighbours at once.
__global__ void square_kernel(int n, float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= x[i];
}

void square_all(int n, float* x) {
  const int threads = 128;
  square_kernel<<<(n + threads - 1) / threads, threads>>>(n, x);
}
