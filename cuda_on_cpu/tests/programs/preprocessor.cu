// One file, several versions: what the preprocessor leaves out need not even be CUDA; and what differs between the
// host's code and the device's, as programs for many generations of devices write it.
#include "expect.h"

#define VERSION 2
#define USE_BIAS
// #define DOUBLE_PRECISION

#ifdef DOUBLE_PRECISION
typedef double real;
#else
typedef float real;
#endif

#if 0
__global__ void first_try(real* x) {
  don't look: this never compiled <<<1, 2>>(x;
  __shared__ real s[
}
#endif

__global__ void affine(const real* x, real* y, int n,
#if VERSION > 1 && defined(USE_BIAS)
                       real bias,
#endif
                       real factor) {
  __shared__
#ifdef DOUBLE_PRECISION
      double
#else
      float
#endif
          part[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? x[i] : real(0);
  __syncthreads();
  if (i < n) {
    y[i] = factor * part[threadIdx.x] + bias;
  }
}

#ifdef __CUDA_ARCH__
#define SIDE 'd'
#else
#define SIDE 'h'
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
  __host__ __device__ explicit Tracer(int number) : number(number) { side = SIDE; }
  __host__ __device__ int get() const { return number; }
  int number;
  char side;
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
  const Tracer tracer(number_of(40));
  if (tracer.side == 'd') atomicAdd(sum, ahead<2>(tracer.get()) + fused(2, 1));
#else
  *sum = -1;
#endif
}

__global__ void clear(float values[], int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) values[i] = 0;
}

int main() {
  const int n = 100;
  real* x = zeros<real>(n);
  real* y = zeros<real>(n);
  for (int i = 0; i < n; ++i) x[i] = real(i);
#if defined(NEVER_DEFINED)
  affine<<<dim3(2, 64>>>();
#else
  affine<<<2,
#ifdef SMALL_BLOCKS
           32
#else
           64
#endif
           >>>(x, y, n, real(0.5), real(2));
#endif
  RESULT(y[0] == 0.5 && y[1] == 2.5 && y[99] == 198.5);

  const Tracer tracer(number_of(5));
  EXPECT(tracer.get() == -5 && tracer.side == 'h');
  double* sum = zeros<double>(1);
  trace<<<1, 2>>>(sum);
  clear<<<1, 1>>>(0, 0);
  RESULT(*sum == 42 + 43 + 2 * 5);
  EXPECT(__LINE__ == 122);
}
