// expect: no kernel was launched
#include <vector>

void axpy(int n, float a, const float* x, float* y) {
  std::vector<float> host_x(n);
  std::vector<float> host_y(n);
  cudaMemcpy(host_x.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(host_y.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) host_y[i] += a * host_x[i];
  cudaMemcpy(y, host_y.data(), n * sizeof(float), cudaMemcpyHostToDevice);
}
