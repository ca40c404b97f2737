// __launch_bounds__ wherever it may stand. Every launch keeps to its bound.
#include <cstdio>

constexpr int kThreads = 64;

__global__ void __launch_bounds__(kThreads) before_name(int* x) { x[threadIdx.x] = 1; }
__global__ __launch_bounds__(2 * kThreads, 2) void before_type(int* x) { x[threadIdx.x] += 2; }
__launch_bounds__(128) __global__ void before_all(int* x) { x[threadIdx.x] += 4; }
extern "C" __global__ void __launch_bounds__(1024, 1) in_c(int* x) { x[threadIdx.x] += 8; }

template <typename T, int Threads>
__global__ static void
__launch_bounds__(Threads, (Threads > 64) ? 1 : 2)
of_template(T* x, T by = T(16)) {
  x[threadIdx.x] += by;
}

template <int... Sizes> struct Sum { static constexpr int value = (Sizes + ... + 0); };
__global__ void __launch_bounds__(Sum<32, 32>::value, 1) computed(int* __restrict__ x) { x[threadIdx.x] += 32; }

__global__ void __launch_bounds__(96) declared_first(int* x);
__global__ void __launch_bounds__(96) declared_first(int* x) { x[threadIdx.x] += 64; }

__global__ void unbounded(int* x) { x[threadIdx.x] += 128; }

int main() {
  int *x, host[kThreads];
  cudaMalloc(&x, 1024 * sizeof(int));
  cudaMemset(x, 0, 1024 * sizeof(int));
  before_name<<<1, kThreads>>>(x);
  before_type<<<1, dim3(128)>>>(x);
  before_all<<<1, 128>>>(x);
  in_c<<<1, 1024>>>(x);
  of_template<int, kThreads><<<1, kThreads>>>(x);
  computed<<<1, 64>>>(x);
  void (*by_pointer)(int*) = declared_first;
  by_pointer<<<1, 96>>>(x);
  unbounded<<<1, 512>>>(x);
  cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost);
  int all = 0;
  for (int value : host) all += value == 255;
  std::printf("%d of %d, %s\n", all, kThreads, cudaGetErrorName(cudaGetLastError()));
  cudaFree(x);
}
