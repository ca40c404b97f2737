/// C = A B, where A is m x k, B is k x n and C is m x n, row-major, in memory of the GPU.
void gemm(int m, int n, int k, const float* a, const float* b, float* c) {
  // Your code: write a kernel above, and launch it here.
}
