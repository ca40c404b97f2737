// A block has at most 1,024 threads.

#include "check.cuh"
#include "mistakes/mistakes.hpp"

namespace mistakes {

namespace {

__global__ void fill(int rows, int columns, float value, float* x) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && column < columns) x[row * columns + column] = value;
}

//! [kernel]
void run(int rows, int columns, float* x) {
  const dim3 block(64, 32);
  const dim3 grid((columns + 63) / 64, (rows + 31) / 32);
  fill<<<grid, block>>>(rows, columns, 1.0F, x);
  check(cudaGetLastError());
}
//! [kernel]

//! [cure]
void run_cured(int rows, int columns, float* x) {
  const dim3 block(32, 32);
  const dim3 grid((columns + 31) / 32, (rows + 31) / 32);
  fill<<<grid, block>>>(rows, columns, 1.0F, x);
  check(cudaGetLastError());
}
//! [cure]

}  // namespace

void too_many_threads(bool cured) {
  const int rows = 100;
  const int columns = 100;
  float* x = nullptr;
  check(cudaMalloc(&x, rows * columns * sizeof(float)));
  (cured ? run_cured : run)(rows, columns, x);
  check(cudaFree(x));
}

}  // namespace mistakes
