// expect: host code read device memory
void sum_all(int n, const float* x, float* sum) {
  for (int i = 0; i < n; ++i) *sum += x[i];
}
