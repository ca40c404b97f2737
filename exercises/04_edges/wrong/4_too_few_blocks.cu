// expect: CUDA reports|have not been set
/// c[row, column] = a[row] b[column], one thread per element.
__global__ void outer_product_kernel(int m, int n, const float* a, const float* b, float* c) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < m && column < n) c[row * n + column] = a[row] * b[column];
}

/// C = a transpose(b), a matrix of m x n.
void outer_product(int m, int n, const float* a, const float* b, float* c) {
  const int side = 16;
  const dim3 blocks(n / side, m / side);
  const dim3 threads(side, side);
  outer_product_kernel<<<blocks, threads>>>(m, n, a, b, c);
}
