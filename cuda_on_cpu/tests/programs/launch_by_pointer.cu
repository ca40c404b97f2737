// Kernels as values: a table of them, launches by cudaLaunchKernel, cudaLaunchKernelEx and a cooperative one.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
namespace cg = cooperative_groups;

#define CHECK(e) if ((e) != cudaSuccess) { std::printf("line %d: %s\n", __LINE__, cudaGetErrorString(cudaGetLastError())); std::exit(1); }

template <class T> __global__ void fill(T* x, T value, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] = value;
}
__global__ void plus_one(int* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += 1; }
__global__ void times_two(int* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }

struct Limits { int low, high; };
__global__ void count_within(const int* x, int n, Limits limits, int* partial, int* result) {
  extern __shared__ int counts[];
  cg::grid_group grid = cg::this_grid();
  int mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    mine += x[i] >= limits.low && x[i] <= limits.high;
  counts[threadIdx.x] = mine;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) counts[threadIdx.x] += counts[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = counts[0];
  grid.sync();
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    int total = 0;
    for (int b = 0; b < (int)gridDim.x; ++b) total += partial[b];
    *result = total;
  }
}

int main() {
  int n = 5000, seven = 7;
  int *x, *partial, *result;
  CHECK(cudaMalloc(&x, n * sizeof(int)));
  CHECK(cudaMallocManaged(&result, sizeof(int)));
  dim3 block(128), grid((n + block.x - 1) / block.x);

  void* fill_args[] = {&x, &seven, &n};
  CHECK(cudaLaunchKernel((const void*)fill<int>, grid, block, fill_args, 0, 0));
  typedef void (*kernel_t)(int*, int);
  kernel_t steps[] = {plus_one, times_two, plus_one};
  for (kernel_t step : steps) step<<<grid, block>>>(x, n);
  void* args[] = {&x, &n};
  CHECK(cudaLaunchKernel(reinterpret_cast<void*>(&times_two), grid, block, args, 0, nullptr));
  CHECK(cudaLaunchKernel(plus_one, grid, block, args));

  cudaLaunchConfig_t config = {0};
  config.gridDim = grid;
  config.blockDim = block;
  cudaLaunchAttribute attribute[1];
  attribute[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute[0].val.programmaticStreamSerializationAllowed = 1;
  config.attrs = attribute;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, times_two, x, n));
  CHECK(cudaLaunchKernelExC(&config, (void*)plus_one, args));

  int device = 0, sms = 0, per_sm = 0, supported = 0;
  CHECK(cudaGetDevice(&device));
  CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, device));
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  size_t shared = block.x * sizeof(int);
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, count_within, block.x, shared));
  int blocks = sms * per_sm < 8 ? sms * per_sm : 8;
  CHECK(cudaMalloc(&partial, blocks * sizeof(int)));
  Limits limits = {60, 75};
  void* count_args[] = {(void*)&x, &n, &limits, &partial, &result};
  CHECK(cudaLaunchCooperativeKernel((void*)count_within, dim3(blocks), block, count_args, shared, 0));
  CHECK(cudaDeviceSynchronize());
  int first = 0;
  CHECK(cudaMemcpy(&first, x, sizeof first, cudaMemcpyDefault));
  std::printf("cooperative launch: %d, each element: %d, within: %d of %d\n", supported, first, *result, n);

  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, times_two));
  CHECK(cudaFuncSetCacheConfig(times_two, cudaFuncCachePreferL1));
  CHECK(cudaFuncSetAttribute(count_within, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024));
  CHECK(cudaFuncGetAttributes(&attributes, (const void*)count_within));
  std::printf("at most %d threads, %d bytes of dynamic shared memory\n", attributes.maxThreadsPerBlock,
              attributes.maxDynamicSharedSizeBytes);
  cudaFree(x); cudaFree(partial); cudaFree(result);
}
