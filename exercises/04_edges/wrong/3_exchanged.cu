// expect: have not been set
/// c[row, column] = a[row] b[column], one thread per element. At the edges, some threads have
/// none.
__global__ void outer_product_kernel(int m, int n, const float* a, const float* b, float* c) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < n && column < m) c[row * n + column] = a[row] * b[column];
}

/// C = a transpose(b), a matrix of m x n.
void outer_product(int m, int n, const float* a, const float* b, float* c) {
  const int side = 16;
  const dim3 blocks((n + side - 1) / side, (m + side - 1) / side);
  const dim3 threads(side, side);
  outer_product_kernel<<<blocks, threads>>>(m, n, a, b, c);
}
