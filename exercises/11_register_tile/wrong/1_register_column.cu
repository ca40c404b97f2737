// expect: asks shared memory for 1.25 numbers
/// A thread computes 4 numbers of a column of c.
constexpr int side = 16;
constexpr int each = 4;

__global__ void product_kernel(int m, int n, int k, const float* a, const float* b, float* c) {
  __shared__ float a_tile[side * each][side];
  __shared__ float b_tile[side][side];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int row = blockIdx.y * side * each + y;
  const int column = blockIdx.x * side + x;
  float sum[each] = {};
  for (int first = 0; first < k; first += side) {
    for (int r = 0; r < each * side; r += side) {
      a_tile[y + r][x] = row + r < m && first + x < k ? a[(row + r) * k + first + x] : 0;
    }
    b_tile[y][x] = first + y < k && column < n ? b[(first + y) * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < side; ++i) {
      const float b_part = b_tile[i][x];
      for (int r = 0; r < each; ++r) sum[r] += a_tile[y + r * side][i] * b_part;
    }
    __syncthreads();
  }
  for (int r = 0; r < each; ++r) {
    if (row + r * side < m && column < n) c[(row + r * side) * n + column] = sum[r];
  }
}

void product(int m, int n, int k, const float* a, const float* b, float* c) {
  const dim3 blocks((n + side - 1) / side, (m + side * each - 1) / (side * each));
  product_kernel<<<blocks, dim3(side, side)>>>(m, n, k, a, b, c);
}
