// expect: outside of A, which is 3 x 4
template <class Matrix>
void multiply(int m, int n, int k, const Matrix& a, const Matrix& b, Matrix& c) {
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) c(i, j) = 0;
    for (int l = 0; l < n; ++l) {
      for (int j = 0; j < k; ++j) c(i, j) += a(i, l) * b(l, j);
    }
  }
}
