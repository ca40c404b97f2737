// expect: no thread counts by atomicAdd\(\) in shared memory
__global__ void histogram_kernel(int n, const int* values, int* counts) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counts[values[i]], 1);
}

void histogram(int n, const int* values, int* counts) {
  histogram_kernel<<<(n + 255) / 256, 256>>>(n, values, counts);
}
