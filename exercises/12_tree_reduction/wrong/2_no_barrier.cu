// expect: nothing orders the two
/// Adds n numbers to *sum, 256 in a block.
constexpr int threads = 256;

__global__ void sum_kernel(int n, const float* x, float* sum) {
  __shared__ float part[threads];
  const int t = threadIdx.x;
  const int i = blockIdx.x * threads + t;
  part[t] = i < n ? x[i] : 0;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
  }
  if (t == 0) atomicAdd(sum, part[0]);
}

void sum_all(int n, const float* x, float* sum) {
  sum_kernel<<<(n + threads - 1) / threads, threads>>>(n, x, sum);
}
