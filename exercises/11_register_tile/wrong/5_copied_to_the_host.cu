// expect: no kernel was launched
#include <vector>

void product(int m, int n, int k, const float* a, const float* b, float* c) {
  std::vector<float> host_a(m * k);
  std::vector<float> host_b(k * n);
  std::vector<float> host_c(m * n);
  cudaMemcpy(host_a.data(), a, host_a.size() * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(host_b.data(), b, host_b.size() * sizeof(float), cudaMemcpyDeviceToHost);
  for (int row = 0; row < m; ++row) {
    for (int i = 0; i < k; ++i) {
      for (int column = 0; column < n; ++column) {
        host_c[row * n + column] += host_a[row * k + i] * host_b[i * n + column];
      }
    }
  }
  cudaMemcpy(c, host_c.data(), host_c.size() * sizeof(float), cudaMemcpyHostToDevice);
}
