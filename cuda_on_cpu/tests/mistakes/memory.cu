// Accesses to memory that is not there, not right, or not set.

#include "mistakes.cuh"

namespace mistakes {
namespace {

//! [beyond_allocation]
__global__ void scale(float a, float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] *= a;
}
//! [beyond_allocation]

//! [beyond_allocation_cured]
__global__ void scale_cured(int n, float a, float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= a;
}
//! [beyond_allocation_cured]

const Mistake beyond_allocation("beyond_allocation", [](bool cured) {
  const int n = 1000;
  float* const x = counting(n);
  cured ? scale_cured<<<4, 256>>>(n, 2.0F, x) : scale<<<4, 256>>>(2.0F, x);
  check(cudaDeviceSynchronize());
});

constexpr int rows = 6;
constexpr int columns = 1500;

//! [row_above]
__global__ void difference_to_row_above(const float* x, float* y) {
  const int i = blockIdx.y * columns + blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i] - x[i - columns];
}
//! [row_above]

//! [row_above_cured]
__global__ void difference_to_row_above_cured(const float* x, float* y) {
  const int i = blockIdx.y * columns + blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = blockIdx.y > 0 ? x[i] - x[i - columns] : 0.0F;
}
//! [row_above_cured]

const Mistake row_above("row_above", [](bool cured) {
  float* const x = counting(rows * columns);
  float* const y = unset(rows * columns);
  const dim3 grid(columns / 250, rows);
  cured ? difference_to_row_above_cured<<<grid, 250>>>(x, y)
        : difference_to_row_above<<<grid, 250>>>(x, y);
  check(cudaDeviceSynchronize());
});

//! [misaligned]
__global__ void sum_of_four(const float* x, float* sums) {
  const float4 four = reinterpret_cast<const float4*>(x)[threadIdx.x];
  sums[threadIdx.x] = four.x + four.y + four.z + four.w;
}
//! [misaligned]

//! [misaligned_cured]
__global__ void sum_of_four_cured(const float* x, float* sums) {
  float sum = 0.0F;
  for (unsigned i = 0; i < 4; ++i) sum += x[4 * threadIdx.x + i];
  sums[threadIdx.x] = sum;
}
//! [misaligned_cured]

const Mistake misaligned("misaligned", [](bool cured) {
  float* const x = counting(129);
  float* const sums = unset(32);
  if (cured) {
    sum_of_four_cured<<<1, 32>>>(x + 1, sums);  // the first element is a header
  } else {
    //! [misaligned_launch]
    sum_of_four<<<1, 32>>>(x + 1, sums);  // the first element is a header
    //! [misaligned_launch]
  }
  check(cudaDeviceSynchronize());
});

//! [null_pointer]
void fill_nothing() {
  const int n = 1000;
  float* x = nullptr;
  fill<<<4, 256>>>(n, 1.0F, x);
  check(cudaDeviceSynchronize());
}
//! [null_pointer]

//! [null_pointer_cured]
void fill_nothing_cured() {
  const int n = 1000;
  float* x = nullptr;
  check(cudaMalloc(&x, n * sizeof(float)));
  fill<<<4, 256>>>(n, 1.0F, x);
  check(cudaDeviceSynchronize());
  check(cudaFree(x));
}
//! [null_pointer_cured]

const Mistake null_pointer("null_pointer", [](bool cured) {
  (cured ? fill_nothing_cured : fill_nothing)();  // each has an x of its own
});

//! [wild_index]
__global__ void histogram(int n, const int* labels, double* bins) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[labels[i]], 1.0);
}
//! [wild_index]

//! [wild_index_cured]
__global__ void histogram_cured(int n, const int* labels, int classes, double* bins, int* refused) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int label = labels[i];
  if (label >= 0 && label < classes) {
    atomicAdd(&bins[label], 1.0);
  } else {
    atomicAdd(refused, 1);  // the host will say so
  }
}
//! [wild_index_cured]

const Mistake wild_index("wild_index", [](bool cured) {
  const std::vector<int> host{0, 0x09000000, 0, 0};  // in the other byte order
  int* labels = nullptr;
  double* bins = nullptr;
  check(cudaMalloc(&labels, 5 * sizeof(int)));
  check(cudaMalloc(&bins, 10 * sizeof(double)));
  check(cudaMemset(labels, 0, 5 * sizeof(int)));
  check(cudaMemset(bins, 0, 10 * sizeof(double)));
  check(cudaMemcpy(labels, host.data(), 4 * sizeof(int), cudaMemcpyHostToDevice));
  cured ? histogram_cured<<<1, 32>>>(4, labels, 10, bins, labels + 4)
        : histogram<<<1, 32>>>(4, labels, bins);
  check(cudaDeviceSynchronize());
});

//! [use_after_free]
void add_twice(int n, float* x, float* y) {
  add<<<4, 256>>>(n, x, y);
  check(cudaFree(x));
  add<<<4, 256>>>(n, x, y);
  check(cudaDeviceSynchronize());
}
//! [use_after_free]

//! [use_after_free_cured]
void add_twice_cured(int n, float* x, float* y) {
  add<<<4, 256>>>(n, x, y);
  add<<<4, 256>>>(n, x, y);
  check(cudaDeviceSynchronize());
  check(cudaFree(x));
}
//! [use_after_free_cured]

const Mistake use_after_free("use_after_free", [](bool cured) {
  const int n = 1000;
  (cured ? add_twice_cured : add_twice)(n, counting(n), counting(n));
});

//! [double_free]
void free_both(int n) {
  float* x = nullptr;
  check(cudaMalloc(&x, n * sizeof(float)));
  float* y = x;
  check(cudaFree(x));
  check(cudaFree(y));
}
//! [double_free]

//! [double_free_cured]
void free_both_cured(int n) {
  float* x = nullptr;
  float* y = nullptr;
  check(cudaMalloc(&x, n * sizeof(float)));
  check(cudaMalloc(&y, n * sizeof(float)));
  check(cudaMemcpy(y, x, n * sizeof(float), cudaMemcpyDeviceToDevice));
  check(cudaFree(x));
  check(cudaFree(y));
}
//! [double_free_cured]

const Mistake double_free("double_free", [](bool cured) {
  (cured ? free_both_cured : free_both)(1000);  // floats each
});

//! [copy_beyond]
void copy(int n, const std::vector<float>& host) {
  float* x = nullptr;
  check(cudaMalloc(&x, n));
  check(cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
}
//! [copy_beyond]

//! [copy_beyond_cured]
void copy_cured(int n, const std::vector<float>& host) {
  float* x = nullptr;
  check(cudaMalloc(&x, n * sizeof(float)));
  check(cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  check(cudaFree(x));
}
//! [copy_beyond_cured]

const Mistake copy_beyond("copy_beyond", [](bool cured) {
  (cured ? copy_cured : copy)(1000, std::vector<float>(1000));
});

//! [wrong_direction]
void copy_back(int n, const float* x, std::vector<float>& host) {
  check(cudaMemcpy(host.data(), x, n * sizeof(float), cudaMemcpyHostToDevice));
}
//! [wrong_direction]

//! [wrong_direction_cured]
void copy_back_cured(int n, const float* x, std::vector<float>& host) {
  check(cudaMemcpy(host.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost));
}
//! [wrong_direction_cured]

const Mistake wrong_direction("wrong_direction", [](bool cured) {
  std::vector<float> host(1000);
  (cured ? copy_back_cured : copy_back)(1000, counting(1000), host);
});

//! [host_access]
void look(int n, float* x, std::vector<float>& result) {
  fill<<<4, 256>>>(n, 1.0F, x);
  check(cudaDeviceSynchronize());
  result[0] = x[3];
}
//! [host_access]

//! [host_access_cured]
void look_cured(int n, float* x, std::vector<float>& result) {
  fill<<<4, 256>>>(n, 1.0F, x);
  check(cudaMemcpy(result.data(), x + 3, sizeof(float), cudaMemcpyDeviceToHost));
}
//! [host_access_cured]

const Mistake host_access("host_access", [](bool cured) {
  std::vector<float> result(1);
  (cured ? look_cured : look)(1000, unset(1000), result);
  expect(result.data(), {1});
});

__global__ void add_up(int n, const float* x, float* total) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(total, x[i]);
}

//! [uninitialized]
void total(int n, const float* x, std::vector<float>& result) {
  float* total = nullptr;
  check(cudaMalloc(&total, sizeof(float)));
  add_up<<<1, 128>>>(n, x, total);
  check(cudaMemcpy(result.data(), total, sizeof(float), cudaMemcpyDeviceToHost));
  check(cudaFree(total));
}
//! [uninitialized]

//! [uninitialized_cured]
void total_cured(int n, const float* x, std::vector<float>& result) {
  float* total = nullptr;
  check(cudaMalloc(&total, sizeof(float)));
  check(cudaMemset(total, 0, sizeof(float)));
  add_up<<<1, 128>>>(n, x, total);
  check(cudaMemcpy(result.data(), total, sizeof(float), cudaMemcpyDeviceToHost));
  check(cudaFree(total));
}
//! [uninitialized_cured]

const Mistake uninitialized("uninitialized", [](bool cured) {
  std::vector<float> result(1);
  (cured ? total_cured : total)(100, counting(100), result);
  expect(result.data(), {5050});
});

//! [beyond_dynamic_shared]
__global__ void reverse(const float* x, float* y) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

void launch(int n, const float* x, float* y) {
  reverse<<<1, n, n>>>(x, y);
}
//! [beyond_dynamic_shared]

//! [beyond_dynamic_shared_cured]
void launch_cured(int n, const float* x, float* y) {
  reverse<<<1, n, n * sizeof(float)>>>(x, y);
}
//! [beyond_dynamic_shared_cured]

const Mistake beyond_dynamic_shared("beyond_dynamic_shared", [](bool cured) {
  (cured ? launch_cured : launch)(64, counting(64), unset(64));
  check(cudaDeviceSynchronize());
});

//! [beyond_shared]
__global__ void differences(int n, const float* x, float* y) {
  __shared__ float tile[64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) tile[threadIdx.x] = x[i];
  if (threadIdx.x == blockDim.x - 1 && i + 1 < n) tile[threadIdx.x + 1] = x[i + 1];
  __syncthreads();
  if (i + 1 < n) y[i] = tile[threadIdx.x + 1] - tile[threadIdx.x];
}
//! [beyond_shared]

//! [beyond_shared_cured]
__global__ void differences_cured(int n, const float* x, float* y) {
  __shared__ float tile[64 + 1];
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) tile[threadIdx.x] = x[i];
  if (threadIdx.x == blockDim.x - 1 && i + 1 < n) tile[threadIdx.x + 1] = x[i + 1];
  __syncthreads();
  if (i + 1 < n) y[i] = tile[threadIdx.x + 1] - tile[threadIdx.x];
}
//! [beyond_shared_cured]

const Mistake beyond_shared("beyond_shared", [](bool cured) {
  float* const x = counting(100);
  float* const y = unset(100);
  cured ? differences_cured<<<2, 64>>>(100, x, y) : differences<<<2, 64>>>(100, x, y);
  check(cudaDeviceSynchronize());
});

//! [stack_overflow]
__device__ float sum(const float* x, int first, int end) {
  if (end - first == 1) return x[first];
  const int middle = (first + end) / 2;
  return sum(x, first, middle) + sum(x, middle, end);
}
//! [stack_overflow]

//! [stack_overflow_cured]
__device__ float sum_cured(const float* x, int first, int end) {
  if (first == end) return 0;
  if (end - first == 1) return x[first];
  const int middle = (first + end) / 2;
  return sum_cured(x, first, middle) + sum_cured(x, middle, end);
}
//! [stack_overflow_cured]

template <bool cured>
__global__ void sums(int n, const float* x, float* y) {
  const int i = threadIdx.x;
  y[i] = (cured ? sum_cured : sum)(x, min(i * 30, n), min((i + 1) * 30, n));
}

const Mistake stack_overflow("stack_overflow", [](bool cured) {
  const int n = 100;  // 30 for each of three threads, 10 for another, none for the rest
  float* const x = counting(n);
  float* const y = unset(8);
  cured ? sums<true><<<1, 8>>>(n, x, y) : sums<false><<<1, 8>>>(n, x, y);
  check(cudaDeviceSynchronize());
});

}  // namespace

}  // namespace mistakes
