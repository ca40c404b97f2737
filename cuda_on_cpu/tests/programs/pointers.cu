// Kernels and functions of the runtime as values: in tables, members, templates and lambdas, by cudaLaunchKernel() and
// its relatives; and what the runtime says about a kernel.
#include <cooperative_groups.h>
#include <functional>
#include <memory>
#include <type_traits>

#include "expect.h"

__global__ void add(int* x, int n) { if (threadIdx.x < n) x[threadIdx.x] += 3; }
__global__ void multiply(int* x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }
template <int By> __global__ void subtract(int* x, int n) { if (threadIdx.x < n) x[threadIdx.x] -= By; }
extern "C" __global__ void set(int* x) { x[threadIdx.x] = threadIdx.x; }
template <class T> __global__ void fill(T* x, T value, int n) { if (threadIdx.x < n) x[threadIdx.x] = value; }

using Kernel = void (*)(int*, int);
struct Step { const char* name; Kernel kernel; };
const Step steps[] = {{"add", add}, {"multiply", multiply}, {"subtract", subtract<1>}};

struct Limits { int low, high; };
__global__ void count_within(const int* x, int n, Limits limits, int* partial, int* result) {
  extern __shared__ int counts[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  counts[threadIdx.x] = i < n && x[i] >= limits.low && x[i] <= limits.high;
  __syncthreads();
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = 0;
    for (int t = 0; t < blockDim.x; ++t) partial[blockIdx.x] += counts[t];
  }
  cooperative_groups::this_grid().sync();
  if (i == 0) {
    for (int b = 0; b < (int)gridDim.x; ++b) *result += partial[b];
  }
}

template <cudaError_t (*release)(void*)>
struct Owner {
  explicit Owner(std::size_t bytes) { cudaMalloc(&data, bytes); }
  ~Owner() { release(data); }
  int* data = nullptr;
};
static_assert(std::is_same_v<decltype(&cudaFree), cudaError_t (*)(void*)>);
static_assert(std::is_same_v<decltype(&::cudaFreeHost), cudaError_t (*)(void*)>);

int main() {
  int n = 8, seven = 7;
  int* x = zeros<int>(n);
  set<<<1, n>>>(x);
  for (const Step& step : steps) step.kernel<<<1, n>>>(x, n);  // 2x + 5
  const auto launch = [=](Kernel kernel, int threads) { kernel<<<1, threads>>>(x, n); };
  launch(multiply, n);  // 4x + 10
  const std::function<void()> later = [&] { (*steps[0].kernel)<<<1, n>>>(x, n); };
  later();  // 4x + 13
  cudaStreamSynchronize(0);
  do subtract<13><<<1, n, 0, cudaStreamPerThread>>>(x, n); while (false);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) EXPECT(x[i] == 4 * i);

  void* fill_args[] = {&x, &seven, &n};
  OK(cudaLaunchKernel((const void*)fill<int>, 1, n, fill_args, 0, 0));
  void* args[] = {&x, &n};
  OK(cudaLaunchKernel(reinterpret_cast<void*>(&multiply), 1, n, args, 0, nullptr));
  OK(cudaLaunchKernel(add, 1, n, args));
  cudaLaunchConfig_t config = {0};
  config.gridDim = 1;
  config.blockDim = n;
  cudaLaunchAttribute attribute[1];
  attribute[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute[0].val.programmaticStreamSerializationAllowed = 1;
  config.attrs = attribute;
  config.numAttrs = 1;
  OK(cudaLaunchKernelEx(&config, multiply, x, n));
  OK(cudaLaunchKernelExC(&config, (void*)add, args));
  RESULT(x[0] == 37 && x[7] == 37);

  int device = 0, sms = 0, per_sm = 0, supported = 0;
  const size_t shared = 4 * sizeof(int);
  OK(cudaGetDevice(&device));
  OK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, device));
  OK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, count_within, 4, shared));
  EXPECT(supported == 1 && sms * per_sm >= 2);
  int* partial = zeros<int>(2);
  int* result = zeros<int>(1);
  x[5] = 99;
  Limits limits = {30, 40};
  void* count_args[] = {(void*)&x, &n, &limits, &partial, &result};
  OK(cudaLaunchCooperativeKernel((void*)count_within, dim3(2), dim3(4), count_args, shared, 0));
  RESULT(*result == 7);

  cudaFuncAttributes attributes;
  OK(cudaFuncGetAttributes(&attributes, multiply));
  EXPECT(attributes.maxThreadsPerBlock == 1024);
  OK(cudaFuncSetCacheConfig(multiply, cudaFuncCachePreferL1));
  OK(cudaFuncSetAttribute(count_within, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024));
  OK(cudaFuncGetAttributes(&attributes, (const void*)count_within));
  EXPECT(attributes.maxDynamicSharedSizeBytes == 65536);

  // The block size that fills the device, with and without shared memory that grows with the block.
  int block = 0, grid = 0;
  cudaDeviceProp props;
  OK(cudaGetDeviceProperties(&props, device));
  OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, (void*)add, 0, 30000));
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, add, block, 0));
  EXPECT(block % props.warpSize == 0 && per_sm * block == props.maxThreadsPerMultiProcessor);
  const auto bytes = [](int threads) { return threads * sizeof(int); };
  OK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, count_within, bytes));
  EXPECT(block % props.warpSize == 0 && grid > 0);
  size_t available = 0;
  OK(cudaOccupancyAvailableDynamicSMemPerBlock(&available, add, 2, 256));
  EXPECT(available == 48 * 1024);

  const Owner<cudaFree> first(32);
  int* raw = nullptr;
  cudaMalloc(&raw, 32);
  const std::unique_ptr<int, decltype(&cudaFree)> second(raw, cudaFree);
  cudaError_t (*const allocate)(void**, std::size_t) = cudaMalloc;
  void* untyped = nullptr;
  OK(allocate(&untyped, 32));
  const std::shared_ptr<int> third(static_cast<int*>(untyped), &::cudaFree);
  const std::function<cudaError_t(void*, const void*, std::size_t, cudaMemcpyKind)> copy = cudaMemcpy;
  for (int* const data : {first.data, second.get(), third.get()}) {
    set<<<1, 8>>>(data);
    int last = 0;
    OK(copy(&last, data + 7, sizeof last, cudaMemcpyDeviceToHost));
    EXPECT(last == 7);
  }
}
