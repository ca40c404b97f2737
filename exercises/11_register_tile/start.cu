/// c = a b, by tiles in shared memory; a thread computes one number of c.
constexpr int side = 16;

__global__ void product_kernel(int m, int n, int k, const float* a, const float* b, float* c) {
  __shared__ float a_tile[side][side];
  __shared__ float b_tile[side][side];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int row = blockIdx.y * side + y;
  const int column = blockIdx.x * side + x;
  float sum = 0;
  for (int first = 0; first < k; first += side) {
    a_tile[y][x] = row < m && first + x < k ? a[row * k + first + x] : 0;
    b_tile[y][x] = first + y < k && column < n ? b[(first + y) * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < side; ++i) sum += a_tile[y][i] * b_tile[i][x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

void product(int m, int n, int k, const float* a, const float* b, float* c) {
  const dim3 blocks((n + side - 1) / side, (m + side - 1) / side);
  product_kernel<<<blocks, dim3(side, side)>>>(m, n, k, a, b, c);
}
