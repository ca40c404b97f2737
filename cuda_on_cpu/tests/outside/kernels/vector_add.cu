#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

#include "kernels/index.cuh"

__global__ void vector_add(const float* a, const float* b, float* c, int n) {
  const int i = global_index();
  if (i < n) c[i] = a[i] + b[i];
}

// Beyond the vectors' ends, the kernel is told of one number more than there is.
int add_vectors(bool beyond) {
  constexpr int n = 1000;
  constexpr int threads = 256;
  float* vectors[3] = {};
  std::vector<float> host(n, 1);
  for (float*& vector : vectors) {
    cudaMalloc(&vector, n * sizeof(float));
    cudaMemcpy(vector, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  }
  vector_add<<<(n + threads - 1) / threads, threads>>>(vectors[0], vectors[1], vectors[2],
                                                       beyond ? n + 1 : n);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  cudaMemcpy(host.data(), vectors[2], n * sizeof(float), cudaMemcpyDeviceToHost);
  for (const float sum : host) {
    if (sum != 2) return 2;
  }
  std::printf("%d sums are right\n", n);
  return 0;
}
