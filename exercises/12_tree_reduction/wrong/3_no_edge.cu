// expect: beyond the end
/// Adds n numbers to *sum, 256 in a block: the upper half to the lower half, until one is left.
constexpr int threads = 256;

__global__ void sum_kernel(int n, const float* x, float* sum) {
  __shared__ float part[threads];
  const int t = threadIdx.x;
  const int i = blockIdx.x * threads + t;
  part[t] = x[i];
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) atomicAdd(sum, part[0]);
}

void sum_all(int n, const float* x, float* sum) {
  sum_kernel<<<(n + threads - 1) / threads, threads>>>(n, x, sum);
}
