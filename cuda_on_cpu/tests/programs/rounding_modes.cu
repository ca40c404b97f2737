// Arithmetic and conversions with each rounding, and functions that only CUDA has.
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>

__global__ void bounds(const float *a, const float *b, int n, int *bad) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = a[i], y = b[i];
  double exact = (double)x * (double)y;
  bool ok = (double)__fmul_rd(x, y) <= exact && exact <= (double)__fmul_ru(x, y);
  ok = ok && fabs((double)__fmul_rz(x, y)) <= fabs(exact);
  ok = ok && __fadd_rd(x, y) <= __fadd_rn(x, y) && __fadd_rn(x, y) <= __fadd_ru(x, y);
  ok = ok && __fdiv_rd(x, y) <= x / y && x / y <= __fdiv_ru(x, y) && nextafterf(__fdiv_rd(x, y), INFINITY) >= __fdiv_ru(x, y);
  ok = ok && __fsqrt_rd(fabsf(x)) <= sqrtf(fabsf(x)) && __fsqrt_ru(fabsf(x)) >= sqrtf(fabsf(x));
  ok = ok && __fmaf_rd(x, y, 1e-10f) <= __fmaf_ru(x, y, 1e-10f) && __fmaf_rn(x, y, x) == fmaf(x, y, x);
  ok = ok && __dadd_rd(x, 1e-30) <= x && __dadd_ru(x, 1e-30) > x && __ddiv_rz(1.0, 3.0) <= 1.0 / 3.0;
  ok = ok && __double2float_rd(exact) <= exact && __double2float_ru(exact) >= exact;
  if (!ok) atomicAdd(bad, 1);
}

__global__ void values(double *out) {
  int k = 0;
  out[k++] = __float2int_rn(2.5f) * 1000 + __float2int_rz(-2.7f) * 100 + __float2int_ru(2.1f) * 10 + __float2int_rd(-0.5f);
  out[k++] = __float2int_rn(3e10f);           // the largest
  out[k++] = __float2uint_rz(-5.0f);
  out[k++] = __float2int_rn(nanf(""));
  out[k++] = __double2ll_rd(-1.5) * 10 + __double2int_ru(1.25);
  out[k++] = __int2float_rz(16777217) - __int2float_ru(16777217);
  out[k++] = __uint_as_float(0x40490fdb) > 3.14f && __float_as_int(1.0f) == 0x3f800000;
  out[k++] = __hiloint2double(__double2hiint(1.75), __double2loint(1.75));
  out[k++] = __saturatef(1.5f) + __saturatef(-2.0f) + __saturatef(0.25f);
  out[k++] = sinpi(0.5) + cospi(1.0) * 10 + sinpif(2.0f);
  out[k++] = exp10(3.0) + exp10f(2.0f);
  float s, c;
  sincosf(0.0f, &s, &c);
  out[k++] = s + c;
  sincospif(0.5f, &s, &c);
  out[k++] = s + c;
  out[k++] = round(1e6 * erfinv(erf(0.7))) + round(1e6 * normcdfinv(normcdf(0.3)));
  out[k++] = round(1e3 * (rsqrt(4.0) + rcbrtf(8.0f) + rhypot(3.0, 4.0) + norm3d(2.0, 3.0, 6.0)));
  out[k++] = round(1e4 * (tgamma(5.0) + erfc(0.0) + lgamma(1.0)));
  out[k++] = __fdividef(6.0f, 4.0f) + __frcp_rn(4.0f) + __fsqrt_rn(9.0f);
  out[k++] = __fadd_rz(FLT_MAX, FLT_MAX) == FLT_MAX && isinf(__fadd_rn(FLT_MAX, FLT_MAX));
}

int main() {
  const int n = 3000;
  float *a, *b;
  int *bad;
  double *out;
  cudaMallocManaged(&a, n * sizeof(float));
  cudaMallocManaged(&b, n * sizeof(float));
  cudaMallocManaged(&bad, sizeof(int));
  cudaMallocManaged(&out, 18 * sizeof(double));
  unsigned s = 1;
  for (int i = 0; i < n; ++i) {
    s = s * 1664525u + 1013904223u;
    a[i] = ldexpf((float)(int)s, (int)(s >> 7 & 31) - 45);
    s = s * 1664525u + 1013904223u;
    b[i] = ldexpf((float)(int)(s | 1), (int)(s >> 9 & 31) - 45);
  }
  *bad = 0;
  bounds<<<(n + 255) / 256, 256>>>(a, b, n, bad);
  values<<<1, 1>>>(out);
  cudaError_t e = cudaDeviceSynchronize();
  printf("%s, %d out of bounds\n", cudaGetErrorString(e), *bad);
  for (int i = 0; i < 18; ++i) printf("%.15g%c", out[i], i % 6 == 5 ? '\n' : ' ');
  return 0;
}
