// expect: 1\.0\d* misses per multiplication.*nearly all of them for B
template <class Matrix>
void multiply(int m, int n, int k, const Matrix& a, const Matrix& b, Matrix& c) {
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l) sum += a(i, l) * b(l, j);
      c(i, j) = sum;
    }
  }
}
