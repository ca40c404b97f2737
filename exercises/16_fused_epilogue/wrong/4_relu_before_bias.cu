// expect: results are wrong
/// A layer: a thread computes a number of the product, adds the bias, and stores it if it is not
/// negative, else 0.
__global__ void linear_relu_kernel(int m, int n, int k, const float* a, const float* b,
                                   const float* bias, float* c) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
  c[row * n + column] = fmaxf(sum, 0) + bias[column];
}

void linear_relu(int m, int n, int k, const float* a, const float* b, const float* bias, float* c) {
  const dim3 blocks((n + 31) / 32, (m + 7) / 8);
  linear_relu_kernel<<<blocks, dim3(32, 8)>>>(m, n, k, a, b, bias, c);
}
