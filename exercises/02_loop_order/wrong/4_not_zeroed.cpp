// expect: results have not been set, the first is \[0, 0\]
template <class Matrix>
void multiply(int m, int n, int k, const Matrix& a, const Matrix& b, Matrix& c) {
  for (int i = 0; i < m; ++i) {
    for (int l = 0; l < k; ++l) {
      for (int j = 0; j < n; ++j) c(i, j) += a(i, l) * b(l, j);
    }
  }
}
