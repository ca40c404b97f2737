// expect: 28 blocks of 256 threads; let both the grid and the blocks have two dimensions
__global__ void outer_product_kernel(int m, int n, const float* a, const float* b, float* c) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < m * n) c[i] = a[i / n] * b[i % n];
}

void outer_product(int m, int n, const float* a, const float* b, float* c) {
  outer_product_kernel<<<(m * n + 255) / 256, 256>>>(m, n, a, b, c);
}
