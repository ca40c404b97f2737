// expect: host code read device memory
void square_all(int n, float* x) {
  for (int i = 0; i < n; ++i) x[i] *= x[i];
}
