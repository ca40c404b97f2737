/// C = A B, where A is m x k, B is k x n and C is m x n.
template <class Matrix>
void multiply(int m, int n, int k, const Matrix& a, const Matrix& b, Matrix& c) {
  // Your code.
}
