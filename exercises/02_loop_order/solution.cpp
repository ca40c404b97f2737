/// C = A B, where A is m x k, B is k x n and C is m x n. The innermost loop goes along a row of B
/// and a row of C.
template <class Matrix>
void multiply(int m, int n, int k, const Matrix& a, const Matrix& b, Matrix& c) {
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) c(i, j) = 0;
    for (int l = 0; l < k; ++l) {
      const float factor = a(i, l);
      for (int j = 0; j < n; ++j) c(i, j) += factor * b(l, j);
    }
  }
}
