// expect: too small: counts have been lost
constexpr int bins = 64;

__global__ void histogram_kernel(int n, const int* values, int* counts) {
  __shared__ int block_counts[bins];
  const int thread = threadIdx.x;
  const int i = blockIdx.x * blockDim.x + thread;
  if (thread < bins) block_counts[thread] = 0;
  __syncthreads();
  if (i < n) atomicAdd(&block_counts[values[i]], 1);
  __syncthreads();
  if (thread < bins) atomicExch(&counts[thread], block_counts[thread]);
}

void histogram(int n, const int* values, int* counts) {
  histogram_kernel<<<(n + 255) / 256, 256>>>(n, values, counts);
}
