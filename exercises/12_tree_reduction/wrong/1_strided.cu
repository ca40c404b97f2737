// expect: bank conflicts
/// Adds n numbers to *sum, 256 in a block.
constexpr int threads = 256;

__global__ void sum_kernel(int n, const float* x, float* sum) {
  __shared__ float part[threads];
  const int t = threadIdx.x;
  const int i = blockIdx.x * threads + t;
  part[t] = i < n ? x[i] : 0;
  __syncthreads();
  for (int stride = 1; stride < threads; stride *= 2) {
    const int first = 2 * stride * t;
    if (first < threads) part[first] += part[first + stride];
    __syncthreads();
  }
  if (t == 0) atomicAdd(sum, part[0]);
}

void sum_all(int n, const float* x, float* sum) {
  sum_kernel<<<(n + threads - 1) / threads, threads>>>(n, x, sum);
}
