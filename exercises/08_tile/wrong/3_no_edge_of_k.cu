// expect: beyond the end
constexpr int side = 16;

/// Each block computes a tile of C, and goes along k in steps of a tile of A and one of B.
__global__ void gemm_kernel(int m, int n, int k, const float* a, const float* b, float* c) {
  __shared__ float a_tile[side][side];
  __shared__ float b_tile[side][side];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int row = blockIdx.y * side + y;
  const int column = blockIdx.x * side + x;

  float sum = 0;
  for (int step = 0; step < k; step += side) {
    a_tile[y][x] = a[row * k + step + x];
    b_tile[y][x] = step + y < k && column < n ? b[(step + y) * n + column] : 0;
    __syncthreads();
    for (int l = 0; l < side; ++l) sum += a_tile[y][l] * b_tile[l][x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

/// C = A B, where A is m x k, B is k x n and C is m x n, row-major, in memory of the GPU.
void gemm(int m, int n, int k, const float* a, const float* b, float* c) {
  const dim3 blocks((n + side - 1) / side, (m + side - 1) / side);
  const dim3 threads(side, side);
  gemm_kernel<<<blocks, threads>>>(m, n, k, a, b, c);
}
