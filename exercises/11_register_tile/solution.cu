/// c = a b, by tiles in shared memory; a thread computes 4 x 4 numbers of c, 16 apart.
constexpr int side = 16;
constexpr int each = 4;
constexpr int tile = side * each;

__global__ void product_kernel(int m, int n, int k, const float* a, const float* b, float* c) {
  __shared__ float a_tile[tile][side];
  __shared__ float b_tile[side][tile];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int row = blockIdx.y * tile + y;
  const int column = blockIdx.x * tile + x;
  float sum[each][each] = {};
  for (int first = 0; first < k; first += side) {
    for (int r = 0; r < tile; r += side) {
      a_tile[y + r][x] = row + r < m && first + x < k ? a[(row + r) * k + first + x] : 0;
    }
    for (int s = 0; s < tile; s += side) {
      b_tile[y][x + s] = first + y < k && column + s < n ? b[(first + y) * n + column + s] : 0;
    }
    __syncthreads();
    for (int i = 0; i < side; ++i) {
      float a_part[each];
      float b_part[each];
      for (int r = 0; r < each; ++r) a_part[r] = a_tile[y + r * side][i];
      for (int s = 0; s < each; ++s) b_part[s] = b_tile[i][x + s * side];
      for (int r = 0; r < each; ++r) {
        for (int s = 0; s < each; ++s) sum[r][s] += a_part[r] * b_part[s];
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < each; ++r) {
    for (int s = 0; s < each; ++s) {
      const int c_row = row + r * side;
      const int c_column = column + s * side;
      if (c_row < m && c_column < n) c[c_row * n + c_column] = sum[r][s];
    }
  }
}

void product(int m, int n, int k, const float* a, const float* b, float* c) {
  const dim3 blocks((n + tile - 1) / tile, (m + tile - 1) / tile);
  product_kernel<<<blocks, dim3(side, side)>>>(m, n, k, a, b, c);
}
