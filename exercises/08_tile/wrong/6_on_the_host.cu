// expect: host code read device memory
void gemm(int m, int n, int k, const float* a, const float* b, float* c) {
  for (int i = 0; i < m * n; ++i) {
    float sum = 0;
    for (int l = 0; l < k; ++l) sum += a[i / n * k + l] * b[l * n + i % n];
    c[i] = sum;
  }
}
