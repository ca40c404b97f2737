// expect: nothing orders the two
constexpr int threads = 128;

/// Each block adds up its numbers. All of its threads come to all of the barriers.
__global__ void block_sums_kernel(int n, const float* x, float* sums) {
  __shared__ float partial[threads];
  const int thread = threadIdx.x;
  const int i = blockIdx.x * threads + thread;

  partial[thread] = i < n ? x[i] : 0;
  __syncthreads();
  for (int stride = threads / 2; stride > 0; stride /= 2) {
    if (thread < stride) partial[thread] += partial[thread + stride];
  }
  if (thread == 0) sums[blockIdx.x] = partial[0];
}

void block_sums(int n, const float* x, float* sums) {
  block_sums_kernel<<<(n + threads - 1) / threads, threads>>>(n, x, sums);
}
