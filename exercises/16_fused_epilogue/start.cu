/// A layer: product, bias, and relu (negative numbers become 0).
__global__ void product_kernel(int m, int n, int k, const float* a, const float* b, float* c) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
  c[row * n + column] = sum;
}

__global__ void add_bias_kernel(int m, int n, const float* bias, float* c) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < m * n) c[i] += bias[i % n];
}

__global__ void relu_kernel(int m, int n, float* c) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < m * n) c[i] = fmaxf(c[i], 0);
}

void linear_relu(int m, int n, int k, const float* a, const float* b, const float* bias, float* c) {
  const dim3 blocks((n + 31) / 32, (m + 7) / 8);
  product_kernel<<<blocks, dim3(32, 8)>>>(m, n, k, a, b, c);
  add_bias_kernel<<<(m * n + 255) / 256, 256>>>(m, n, bias, c);
  relu_kernel<<<(m * n + 255) / 256, 256>>>(m, n, c);
}
