// expect: 4_on_the_host.cu:3: host code read device memory
void axpy(int n, float a, const float* x, float* y) {
  for (int i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}
