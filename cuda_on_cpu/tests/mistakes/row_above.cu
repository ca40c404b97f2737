// Each thread reads the row above its own, and the first row has none.

#include "check.cuh"
#include "mistakes/mistakes.hpp"

namespace mistakes {

namespace {

constexpr int rows = 6;
constexpr int columns = 1500;

//! [kernel]
__global__ void difference_to_row_above(const float* x, float* y) {
  const int i = blockIdx.y * columns + blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i] - x[i - columns];
}
//! [kernel]

//! [cure]
__global__ void difference_to_row_above_cured(const float* x, float* y) {
  const int i = blockIdx.y * columns + blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = blockIdx.y > 0 ? x[i] - x[i - columns] : 0.0F;
}
//! [cure]

}  // namespace

void row_above(bool cured) {
  const std::vector<float> host = counting(rows * columns);
  const std::size_t bytes = host.size() * sizeof(float);
  float* x = nullptr;
  float* y = nullptr;
  check(cudaMalloc(&x, bytes));
  check(cudaMalloc(&y, bytes));
  check(cudaMemcpy(x, host.data(), bytes, cudaMemcpyHostToDevice));
  const dim3 grid(columns / 250, rows);
  if (cured) {
    difference_to_row_above_cured<<<grid, 250>>>(x, y);
  } else {
    difference_to_row_above<<<grid, 250>>>(x, y);
  }
  check(cudaDeviceSynchronize());
  check(cudaFree(x));
  check(cudaFree(y));
}

}  // namespace mistakes
