// expect: asks global memory for
/// No tile at all: registers only.
constexpr int each = 4;

__global__ void product_kernel(int m, int n, int k, const float* a, const float* b, float* c) {
  const int row = (blockIdx.y * 16 + threadIdx.y) * each;
  const int column = (blockIdx.x * 16 + threadIdx.x) * each;
  float sum[each][each] = {};
  for (int i = 0; i < k; ++i) {
    float a_part[each];
    float b_part[each];
    for (int r = 0; r < each; ++r) a_part[r] = row + r < m ? a[(row + r) * k + i] : 0;
    for (int s = 0; s < each; ++s) b_part[s] = column + s < n ? b[i * n + column + s] : 0;
    for (int r = 0; r < each; ++r) {
      for (int s = 0; s < each; ++s) sum[r][s] += a_part[r] * b_part[s];
    }
  }
  for (int r = 0; r < each; ++r) {
    for (int s = 0; s < each; ++s) {
      if (row + r < m && column + s < n) c[(row + r) * n + column + s] = sum[r][s];
    }
  }
}

void product(int m, int n, int k, const float* a, const float* b, float* c) {
  const dim3 blocks((n + 63) / 64, (m + 63) / 64);
  product_kernel<<<blocks, dim3(16, 16)>>>(m, n, k, a, b, c);
}
