// Launches that are refused, and errors that nobody looks at.

#include <cassert>

#include "mistakes.cuh"

namespace mistakes {
namespace {

__global__ void fill_matrix(int rows, int columns, float value, float* x) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && column < columns) x[row * columns + column] = value;
}

//! [too_many_threads]
void run(int rows, int columns, float* x) {
  const dim3 block(64, 32);
  const dim3 grid((columns + 63) / 64, (rows + 31) / 32);
  fill_matrix<<<grid, block>>>(rows, columns, 1.0F, x);
  check(cudaGetLastError());
}
//! [too_many_threads]

//! [too_many_threads_cured]
void run_cured(int rows, int columns, float* x) {
  const dim3 block(32, 32);
  const dim3 grid((columns + 31) / 32, (rows + 31) / 32);
  fill_matrix<<<grid, block>>>(rows, columns, 1.0F, x);
  check(cudaGetLastError());
}
//! [too_many_threads_cured]

const Mistake too_many_threads("too_many_threads", [](bool cured) {
  (cured ? run_cured : run)(100, 100, unset(100 * 100));
});

//! [beyond_launch_bounds]
constexpr int most_threads = 256;

__global__ void __launch_bounds__(most_threads) square(int n, float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= x[i];
}

void square_all(int n, float* x) {
  square<<<(n + 511) / 512, 512>>>(n, x);
  check(cudaGetLastError());
}
//! [beyond_launch_bounds]

//! [beyond_launch_bounds_cured]
void square_all_cured(int n, float* x) {
  square<<<(n + most_threads - 1) / most_threads, most_threads>>>(n, x);
  check(cudaGetLastError());
}
//! [beyond_launch_bounds_cured]

const Mistake beyond_launch_bounds("beyond_launch_bounds", [](bool cured) {
  (cured ? square_all_cured : square_all)(1000, counting(1000));
});

__global__ void reverse(int n, const float* x, float* y) {
  extern __shared__ float tile[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) tile[i] = x[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = tile[n - 1 - i];
}

//! [too_much_shared]
void reverse_all(int n, const float* x, float* y) {
  reverse<<<1, 256, n * sizeof(float)>>>(n, x, y);
  check(cudaGetLastError());
}
//! [too_much_shared]

//! [too_much_shared_cured]
void reverse_all_cured(int n, const float* x, float* y) {
  const int bytes = n * sizeof(float);
  check(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  reverse<<<1, 256, bytes>>>(n, x, y);
  check(cudaGetLastError());
}
//! [too_much_shared_cured]

const Mistake too_much_shared("too_much_shared", [](bool cured) {
  (cured ? reverse_all_cured : reverse_all)(16000, counting(16000), unset(16000));
  check(cudaDeviceSynchronize());
});

//! [unchecked_launch]
void fill_all(int n, int threads, float* x) {
  const int blocks = n / threads;
  fill<<<blocks, threads>>>(n, 1.0F, x);
}
//! [unchecked_launch]

//! [unchecked_launch_cured]
void fill_all_cured(int n, int threads, float* x) {
  const int blocks = (n + threads - 1) / threads;
  fill<<<blocks, threads>>>(n, 1.0F, x);
  check(cudaGetLastError());
}
//! [unchecked_launch_cured]

const Mistake unchecked_launch("unchecked_launch", [](bool cured) {
  const int n = 100;
  float* const x = unset(n);
  check(cudaMemset(x, 0, n * sizeof(float)));
  (cured ? fill_all_cured : fill_all)(n, 256, x);
  expect(x, std::vector<float>(n, 1));
});

__global__ void scale(int n, float a, float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) x[i] *= a;
}

__global__ void scale_cured(int n, float a, float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= a;
}

//! [late_error]
void run(int n, float* x) {
  float* y = nullptr;
  scale<<<4, 256>>>(n, 2.0F, x);  // i <= n where i < n was meant
  check(cudaMalloc(&y, n * sizeof(float)));
}
//! [late_error]

//! [late_error_cured]
void run_cured(int n, float* x) {
  float* y = nullptr;
  scale_cured<<<4, 256>>>(n, 2.0F, x);
  check(cudaGetLastError());       // was the launch taken?
  check(cudaDeviceSynchronize());  // did the kernel end well? Not in every step: it waits
  check(cudaMalloc(&y, n * sizeof(float)));
  check(cudaFree(y));
}
//! [late_error_cured]

const Mistake late_error("late_error", [](bool cured) {
  float* const x = counting(1000);
  if (cured) {
    run_cured(1000, x);
  } else {
    run(1000, x);
  }
});

//! [failed_assertion]
__global__ void pair_sums(int n, const float* x, float* y) {
  assert(n % 2 == 0);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 2) y[i] = x[2 * i] + x[2 * i + 1];
}

void launch(int n, const float* x, float* y) {
  pair_sums<<<1, 64>>>(n, x, y);
}
//! [failed_assertion]

//! [failed_assertion_cured]
__global__ void add_last(int n, const float* x, float* y) {
  y[n / 2] = x[n - 1];
}

void launch_cured(int n, const float* x, float* y) {
  const int even = n / 2 * 2;
  pair_sums<<<1, 64>>>(even, x, y);
  if (even < n) add_last<<<1, 1>>>(n, x, y);
}
//! [failed_assertion_cured]

const Mistake failed_assertion("failed_assertion", [](bool cured) {
  (cured ? launch_cured : launch)(101, counting(101), unset(51));
  check(cudaDeviceSynchronize());
});

}  // namespace

}  // namespace mistakes
