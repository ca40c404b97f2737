// expect: call atomicAdd more than 16 times
__global__ void sum_kernel(int n, const float* x, float* sum) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float part = i < n ? x[i] : 0;
  for (int offset = 16; offset > 0; offset /= 2) part += __shfl_down_sync(~0u, part, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, part);
}

void sum_all(int n, const float* x, float* sum) {
  sum_kernel<<<(n + 255) / 256, 256>>>(n, x, sum);
}
