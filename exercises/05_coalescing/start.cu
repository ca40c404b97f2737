/// Squares n numbers in memory of the GPU; each thread takes some that are neighbours.
constexpr int numbers_per_thread = 16;

__global__ void square_kernel(int n, float* x) {
  const int first = numbers_per_thread * (blockIdx.x * blockDim.x + threadIdx.x);
  for (int i = first; i < first + numbers_per_thread && i < n; ++i) x[i] *= x[i];
}

void square_all(int n, float* x) {
  const int threads = 128;
  const int numbers_per_block = threads * numbers_per_thread;
  square_kernel<<<(n + numbers_per_block - 1) / numbers_per_block, threads>>>(n, x);
}
