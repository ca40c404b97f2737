// expect: misses per multiplication.*most of them for
template <class Matrix>
void multiply(int m, int n, int k, const Matrix& a, const Matrix& b, Matrix& c) {
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) c(i, j) = 0;
    for (int l = 0; l < k; ++l) {
      for (int i = 0; i < m; ++i) c(i, j) += a(i, l) * b(l, j);
    }
  }
}
