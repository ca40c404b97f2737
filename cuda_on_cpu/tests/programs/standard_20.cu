// A program for nvcc -std=c++20.
//> 1 4 9
#include <concepts>
#include <cstdio>

template <std::integral T>
__global__ void square(T* values) {
  values[threadIdx.x] *= values[threadIdx.x];
}

int main() {
  int* values = nullptr;
  cudaMallocManaged(&values, 3 * sizeof(int));
  for (int i = 0; i < 3; ++i) values[i] = i + 1;
  square<<<1, 3>>>(values);
  cudaDeviceSynchronize();
  std::printf("%d %d %d\n", values[0], values[1], values[2]);
  cudaFree(values);
}
