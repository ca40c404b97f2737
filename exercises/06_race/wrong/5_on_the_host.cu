// expect: host code read device memory
void histogram(int n, const int* values, int* counts) {
  for (int i = 0; i < n; ++i) ++counts[values[i]];
}
