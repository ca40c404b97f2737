// expect: nothing orders the blocks
constexpr int bins = 64;

/// Adds to counts[v] how often v is among the n values. Each block counts its own values first.
__global__ void histogram_kernel(int n, const int* values, int* counts) {
  __shared__ int block_counts[bins];
  const int thread = threadIdx.x;
  const int i = blockIdx.x * blockDim.x + thread;

  if (thread < bins) block_counts[thread] = 0;
  __syncthreads();

  if (i < n) atomicAdd(&block_counts[values[i]], 1);
  __syncthreads();

  if (thread < bins) counts[thread] += block_counts[thread];
}

void histogram(int n, const int* values, int* counts) {
  const int threads = 256;
  histogram_kernel<<<(n + threads - 1) / threads, threads>>>(n, values, counts);
}
