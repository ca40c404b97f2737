// expect: 0 loads from shared memory
__global__ void block_sums_kernel(int n, const float* x, float* sums) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&sums[blockIdx.x], x[i]);
}

void block_sums(int n, const float* x, float* sums) {
  cudaMemset(sums, 0, (n + 127) / 128 * sizeof(float));
  block_sums_kernel<<<(n + 127) / 128, 128>>>(n, x, sums);
}
