// What differs between the host's code and the device's, as programs for many generations of devices write it.
#include <cstdio>

#ifdef __CUDA_ARCH__
#define SIDE "device"
#else
#define SIDE "host"
#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
#else
__device__ double atomicAdd(double* address, double value) { return *address += value; }
#endif

#if __CUDA_ARCH__ >= 700
template <int step>
__device__ int ahead(int x) {
  return x + step;
}
#endif

__host__ __device__ int number_of(int x) {
#ifdef __CUDA_ARCH__
  return x + static_cast<int>(threadIdx.x);
#else
  return -x;
#endif
}

struct Tracer {
  __host__ __device__ explicit Tracer(int number) : number(number) { printf("%s %d\n", SIDE, number); }
  __host__ __device__ int get() const { return number; }
  int number;
};

__device__ __forceinline__ float fused(float a, float b) {
#if __CUDA_ARCH__ >= 800
  float result;
  asm("fma.rn.f32 %0, %1, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
#else
  return a * a + b;
#endif
}

__global__ void trace(double* sum) {
#if __CUDA_ARCH__ >= 700
  if (threadIdx.x == 0) Tracer tracer(number_of(40));
  atomicAdd(sum, ahead<2>(number_of(1)) + fused(2, 1));
#else
  *sum = -1;
#endif
}

__global__ void clear(float values[], int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) values[i] = 0;
}

int main() {
  Tracer tracer(number_of(5));
  double* sum;
  cudaMallocManaged(&sum, sizeof(double));
  *sum = 0;
  trace<<<1, 2>>>(sum);
  cudaDeviceSynchronize();
  printf("%g %d, line %d\n", *sum, tracer.get(), __LINE__);
  clear<<<1, 1>>>(0, 0);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(sum);
}
