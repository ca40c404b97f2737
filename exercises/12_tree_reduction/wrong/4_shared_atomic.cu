// expect: atomic functions in shared memory
/// Adds n numbers to *sum, 256 in a block.
constexpr int threads = 256;

__global__ void sum_kernel(int n, const float* x, float* sum) {
  __shared__ float part;
  const int t = threadIdx.x;
  const int i = blockIdx.x * threads + t;
  if (t == 0) part = 0;
  __syncthreads();
  if (i < n) atomicAdd(&part, x[i]);
  __syncthreads();
  if (t == 0) atomicAdd(sum, part);
}

void sum_all(int n, const float* x, float* sum) {
  sum_kernel<<<(n + threads - 1) / threads, threads>>>(n, x, sum);
}
