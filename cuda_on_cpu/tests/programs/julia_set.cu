// A Julia set with complex numbers, as characters.
#include <cuComplex.h>
#include <math_constants.h>
#include <cstdio>

#define DIM_X 64
#define DIM_Y 24

__device__ int julia(int x, int y) {
  const float scale = 1.5f;
  float jx = scale * (float)(DIM_X / 2 - x) / (DIM_X / 2);
  float jy = scale * (float)(DIM_Y / 2 - y) / (DIM_Y / 2);
  cuFloatComplex c = make_cuFloatComplex(-0.8f, 0.156f);
  cuFloatComplex a = make_cuFloatComplex(jx, jy);
  int i = 0;
  for (i = 0; i < 60; i++) {
    a = cuCaddf(cuCmulf(a, a), c);
    if (cuCabsf(a) > 30.0f) break;
  }
  return i;
}

__global__ void kernel(unsigned char *ptr) {
  int x = blockIdx.x, y = blockIdx.y;
  int offset = x + y * gridDim.x;
  int n = julia(x, y);
  ptr[offset] = n >= 60 ? '#' : n > 20 ? '+' : n > 12 ? '.' : ' ';
}

// The roots of unity add up to nothing.
__global__ void roots(double *error, int n) {
  cuDoubleComplex sum = make_cuDoubleComplex(0, 0);
  for (int k = 0; k < n; ++k) {
    double s, c;
    sincos(2 * CUDART_PI * k / n, &s, &c);
    sum = cuCadd(sum, make_cuDoubleComplex(c, s));
  }
  cuDoubleComplex q = cuCdiv(make_cuDoubleComplex(1, 2), make_cuDoubleComplex(3, -4));
  *error = cuCabs(sum) + cuCabs(cuCsub(q, make_cuDoubleComplex(-0.2, 0.4)));
}

int main() {
  unsigned char *dev, host[DIM_X * DIM_Y];
  double *error, e;
  cudaMalloc((void **)&dev, sizeof(host));
  cudaMalloc((void **)&error, sizeof(e));
  dim3 grid(DIM_X, DIM_Y);
  kernel<<<grid, 1>>>(dev);
  roots<<<1, 1>>>(error, 12);
  cudaMemcpy(host, dev, sizeof(host), cudaMemcpyDeviceToHost);
  cudaMemcpy(&e, error, sizeof(e), cudaMemcpyDeviceToHost);
  for (int y = 0; y < DIM_Y; y++) printf("|%.*s|\n", DIM_X, (char *)host + y * DIM_X);
  printf("%s\n", e < 1e-12 ? "the roots add up to nothing" : "WRONG");
  cudaFree(dev);
  cudaFree(error);
  return 0;
}
