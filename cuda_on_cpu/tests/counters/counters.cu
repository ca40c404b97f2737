// Kernels of which it is known what they ask of memory. Each line of the table that CUDA on the CPU
// writes is compared with what main() has counted by itself: from the addresses that the kernel's
// comment gives, by sets.
#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>
#include <cuda/barrier>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <cuda_pipeline_primitives.h>

// Kernels of n threads in blocks of 96.
__global__ void copies(int n, const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
__global__ void strided(int n, const double* in, double* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i * 7 % n];
}
__global__ void bytes(int n, const unsigned char* in, short* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
// A branch parts the lanes, and each goes through its loop as often as its number says.
__global__ void triangle(int n, const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  if (i < n && i % 3 != 0) {
    for (int j = 0; j < i % 32; ++j) sum += in[j * 5];
  }
  if (i < n) out[i] = sum;
}
// Whatever an addition is made of on the CPU.
template <class T>
__global__ void bins(int n, const int* in, T* counts) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counts[in[i] % 5 * 9], T{1});
}
// A tile whose columns are read: 32 lanes want the same bank, or with a pad, all banks.
template <int pad>
__global__ void columns(int n, const float* in, float* out) {
  __shared__ float tile[32][32 + pad];
  for (int y = 0; y < 32; ++y) tile[y][threadIdx.x] = in[(y * 32 + threadIdx.x) % n];
  __syncthreads();
  float sum = 0;
  for (int x = 0; x < 32; ++x) sum += tile[threadIdx.x][x];
  out[threadIdx.x] = sum;
}
// 8 bytes for each lane: two halves of the warp, each without a conflict, or with a conflict of
// two.
template <int stride>
__global__ void doubles(double* out) {
  __shared__ double row[32 * stride];
  row[threadIdx.x * stride] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = row[threadIdx.x * stride];
}

// Two vectors for each lane; for the first, odd lanes ask for zeros.
__global__ void copied(const float4* in, float4* out) {
  __shared__ float4 first[32];
  __shared__ float4 second[32];
  const int i = threadIdx.x;
  __pipeline_memcpy_async(&first[i], &in[i], 16, i % 2 == 0 ? 0 : 16);
  __pipeline_memcpy_async(&second[i], &in[32 + i], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[i] = first[i];
  out[32 + i] = second[i];
}

// A copy of many bytes that a barrier waits for: each vector is loaded and stored once.
__global__ void copied_by_one(const float* in, float* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> arrived;
  __shared__ alignas(16) float row[1024];
  if (threadIdx.x == 0) init(&arrived, 32);
  __syncthreads();
  if (threadIdx.x == 0) cuda::memcpy_async(row, in, sizeof(row), arrived);
  arrived.arrive_and_wait();
  out[threadIdx.x] = row[threadIdx.x * 32];
}

// Threads that wait for a flag: each is counted with its first look, however often it has to look.
__global__ void waits(int* flag, int* out, int looks) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> raised(*flag);
  int seen = 0;
  for (int i = 0; i < looks; ++i) {
    seen += raised.load(cuda::memory_order_relaxed);
    __nanosleep(0);  // lets the others run
  }
  out[threadIdx.x] = seen;
}

struct Expected {
  unsigned long long requests, lanes, bytes, sectors, wavefronts, conflicts, distinct;
};

using Addresses = std::function<long(int thread)>;  // -1: takes no part

// Of one access by each of n threads in blocks of 96, with `size` bytes each.
void add_global(Expected& sum, int n, int size, const Addresses& address, std::set<long>& all) {
  for (int first = 0; first < n; first += 32) {  // 96 is a multiple of a warp
    std::set<long> sectors;
    int lanes = 0;
    for (int i = first; i < first + 32 && i < n; ++i) {
      const long begin = address(i);
      if (begin < 0) continue;
      ++lanes;
      for (long at = begin; at < begin + size; ++at) sectors.insert(at / 32);
    }
    if (lanes == 0) continue;
    ++sum.requests;
    sum.lanes += lanes;
    sum.bytes += lanes * size;
    sum.sectors += sectors.size();
    all.insert(sectors.begin(), sectors.end());
    sum.distinct = 32 * all.size();
  }
}

void print(const char* kernel, int blocks, int threads, const char* accesses, const Expected& e) {
  if (e.requests == 0) return;
  std::printf("\"%s\",%d,%d,%s,%llu,%llu,%llu,%llu,%llu,%llu,%llu\n", kernel, blocks, threads,
              accesses, e.requests, e.lanes, e.bytes, e.sectors, e.wavefronts, e.conflicts,
              e.distinct);
}

void expect(const char* kernel, int n, const char* accesses, int size, const Addresses& address) {
  Expected sum{};
  std::set<long> all;
  add_global(sum, n, size, address, all);
  print(kernel, (n + 95) / 96, 96, accesses, sum);
}

template <class T>
T* allocate(int n, T value = {}) {
  T* device = nullptr;
  const std::vector<T> host(n, value);
  if (cudaMalloc(&device, n * sizeof(T)) != cudaSuccess) std::exit(1);
  cudaMemcpy(device, host.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1001;
  const int blocks = (n + 95) / 96;
  if (argc > 2) {  // of these, check.sh knows what is counted
    const std::string kernel = argv[2];
    if (kernel == "barrier") copied_by_one<<<1, 32>>>(allocate<float>(1024), allocate<float>(32));
    if (kernel == "wait") waits<<<1, 32>>>(allocate<int>(1), allocate<int>(32), std::atoi(argv[3]));
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
  }
  std::puts(
      "kernel,blocks,threads,accesses,requests,lanes,bytes,sectors,wavefronts,conflicts,distinct_"
      "bytes");

  copies<<<blocks, 96>>>(n, allocate<float>(n), allocate<float>(n));
  expect("copies", n, "global loads", 4, [](int i) { return 4L * i; });
  expect("copies", n, "global stores", 4, [](int i) { return 4L * i; });

  strided<<<blocks, 96>>>(n, allocate<double>(n), allocate<double>(n));
  expect("strided", n, "global loads", 8, [n](int i) { return 8L * (i * 7 % n); });
  expect("strided", n, "global stores", 8, [](int i) { return 8L * i; });

  bytes<<<blocks, 96>>>(n, allocate<unsigned char>(n), allocate<short>(n));
  expect("bytes", n, "global loads", 1, [](int i) { return 1L * i; });
  expect("bytes", n, "global stores", 2, [](int i) { return 2L * i; });

  triangle<<<blocks, 96>>>(n, allocate<int>(32 * 5), allocate<int>(n));
  Expected loop{};
  std::set<long> all;
  for (int j = 0; j < 32; ++j) {
    add_global(
        loop, n, 4, [j](int i) { return i % 3 != 0 && j < i % 32 ? 20L * j : -1; }, all);
  }
  print("triangle", blocks, 96, "global loads", loop);
  expect("triangle", n, "global stores", 4, [](int i) { return 4L * i; });

  bins<int><<<blocks, 96>>>(n, allocate<int>(n, 3), allocate<int>(5 * 9));
  expect("bins<int>", n, "global loads", 4, [](int i) { return 4L * i; });
  expect("bins<int>", n, "global atomics", 4, [](int) { return 4L * 3 * 9; });
  bins<double><<<blocks, 96>>>(n, allocate<int>(n, 3), allocate<double>(5 * 9));
  expect("bins<double>", n, "global loads", 4, [](int i) { return 4L * i; });
  expect("bins<double>", n, "global atomics", 8, [](int) { return 8L * 3 * 9; });

  // One warp each; shared memory has no sectors.
  columns<0><<<1, 32>>>(1024, allocate<float>(1024), allocate<float>(32));
  columns<1><<<1, 32>>>(1024, allocate<float>(1024), allocate<float>(32));
  for (const char* const kernel : {"columns<0>", "columns<1>"}) {
    const unsigned long long wavefronts = kernel[8] == '0' ? 1024 : 32;
    print(kernel, 1, 32, "global loads", {32, 1024, 4096, 128, 0, 0, 4096});
    print(kernel, 1, 32, "global stores", {1, 32, 128, 4, 0, 0, 128});
    print(kernel, 1, 32, "shared loads", {32, 1024, 4096, 0, wavefronts, wavefronts - 32, 0});
    print(kernel, 1, 32, "shared stores", {32, 1024, 4096, 0, 32, 0, 0});
  }
  doubles<1><<<1, 32>>>(allocate<double>(32));
  print("doubles<1>", 1, 32, "global stores", {1, 32, 256, 8, 0, 0, 256});
  print("doubles<1>", 1, 32, "shared loads", {1, 32, 256, 0, 2, 0, 0});
  print("doubles<1>", 1, 32, "shared stores", {1, 32, 256, 0, 2, 0, 0});
  doubles<2><<<1, 32>>>(allocate<double>(32));
  print("doubles<2>", 1, 32, "global stores", {1, 32, 256, 8, 0, 0, 256});
  print("doubles<2>", 1, 32, "shared loads", {1, 32, 256, 0, 4, 2, 0});
  print("doubles<2>", 1, 32, "shared stores", {1, 32, 256, 0, 4, 2, 0});
  copied<<<1, 32>>>(allocate<float4>(64), allocate<float4>(64));
  print("copied", 1, 32, "global loads", {2, 48, 768, 32, 0, 0, 1024});
  print("copied", 1, 32, "global stores", {2, 64, 1024, 32, 0, 0, 1024});
  print("copied", 1, 32, "shared loads", {2, 64, 1024, 0, 8, 0, 0});
  print("copied", 1, 32, "shared stores", {2, 64, 1024, 0, 8, 0, 0});
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
