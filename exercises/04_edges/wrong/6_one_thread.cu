// expect: For 70 x 100, .* only 1 block of 1 thread; .* 7000 threads
__global__ void outer_product_kernel(int m, int n, const float* a, const float* b, float* c) {
  for (int i = 0; i < m * n; ++i) c[i] = a[i / n] * b[i % n];
}

void outer_product(int m, int n, const float* a, const float* b, float* c) {
  outer_product_kernel<<<1, 1>>>(m, n, a, b, c);
}
