// expect: 6_called.cu:6: host code read device memory .* allocated in the check for y
// A kernel that is called like a function.
__global__ void k(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] += a * x[i];
  }
}

void axpy(int n, float a, const float* x, float* y) {
  void (*const f)(int, float, const float*, float*) = k;
  f(n, a, x, y);
}
