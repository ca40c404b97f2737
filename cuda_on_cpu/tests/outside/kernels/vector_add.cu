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
  const std::vector<float> a(n, 1);
  const std::vector<float> b(n, 2);
  std::vector<float> c(n);
  const std::size_t bytes = n * sizeof(float);
  float* da = nullptr;
  float* db = nullptr;
  float* dc = nullptr;
  cudaMalloc(&da, bytes);
  cudaMalloc(&db, bytes);
  cudaMalloc(&dc, bytes);
  cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice);
  vector_add<<<(n + threads - 1) / threads, threads>>>(da, db, dc, beyond ? n + 1 : n);
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) return 1;
  cudaMemcpy(c.data(), dc, bytes, cudaMemcpyDeviceToHost);
  for (const float sum : c) {
    if (sum != 3) return 2;
  }
  std::printf("%d sums are right\n", n);
  cudaFree(da);
  cudaFree(db);
  cudaFree(dc);
  return 0;
}
