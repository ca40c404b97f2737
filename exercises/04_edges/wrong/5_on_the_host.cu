// expect: host code read device memory
void outer_product(int m, int n, const float* a, const float* b, float* c) {
  for (int i = 0; i < m * n; ++i) c[i] = a[i / n] * b[i % n];
}
