// One file, several versions: what is left out by the preprocessor need not even be CUDA.
#include <cstdio>
#include <vector>

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

#if VERSION == 1
__global__ void affine(const real* x, real* y, int n) {
#else
__global__ void affine(const real* x, real* y, int n,
#ifdef USE_BIAS
                       real bias,
#endif
                       real factor) {
#endif
  __shared__
#ifdef DOUBLE_PRECISION
      double
#else
      float
#endif
          part[64
#ifdef PADDED
               + 1
#endif
  ];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? x[i] : real(0);
  __syncthreads();
  if (i < n) {
    y[i] = factor * part[threadIdx.x]
#ifdef USE_BIAS
           + bias
#endif
        ;
  }
}

int main() {
  const int n = 100;
  std::vector<real> x(n), y(n);
  for (int i = 0; i < n; ++i) x[i] = real(i);
  real *dx = nullptr, *dy = nullptr;
  cudaMalloc(&dx, n * sizeof(real));
  cudaMalloc(&dy, n * sizeof(real));
  cudaMemcpy(dx, x.data(), n * sizeof(real), cudaMemcpyHostToDevice);
#if VERSION == 1
  affine<<<2, 64>>>(dx, dy, n);
#elif defined(NEVER_DEFINED)
  affine<<<dim3(2, 64>>>();
#else
  affine<<<2,
#ifdef SMALL_BLOCKS
           32
#else
           64
#endif
           >>>(dx, dy, n,
#ifdef USE_BIAS
               real(0.5),
#endif
               real(2));
#endif
  cudaMemcpy(y.data(), dy, n * sizeof(real), cudaMemcpyDeviceToHost);
  std::printf("%s: %.1f %.1f %.1f, line %d\n", cudaGetErrorName(cudaGetLastError()), y[0], y[1], y[99], __LINE__);
  cudaFree(dx);
  cudaFree(dy);
  return 0;
}
