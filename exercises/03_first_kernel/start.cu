/// y = a x + y, for n numbers in memory of the GPU.
void axpy(int n, float a, const float* x, float* y) {
  // Your code: write a kernel above, and launch it here.
}
