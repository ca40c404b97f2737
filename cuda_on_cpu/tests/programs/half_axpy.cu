// y = a * x + y in half precision, by pairs; and what half precision cannot hold.
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CALL(x) do { cudaError_t e = (x); if (e != cudaSuccess) { printf("Error %s at %d\n", cudaGetErrorString(e), __LINE__); return EXIT_FAILURE; } } while (0)

__global__ void haxpy(int n, half a, const half *x, half *y) {
  int start = threadIdx.x + blockDim.x * blockIdx.x;
  int stride = blockDim.x * gridDim.x;
  int n2 = n / 2;
  half2 *x2 = (half2 *)x, *y2 = (half2 *)y;
  for (int i = start; i < n2; i += stride) y2[i] = __hfma2(__halves2half2(a, a), x2[i], y2[i]);
  if (start == 0 && (n % 2)) y[n - 1] = __hfma(a, x[n - 1], y[n - 1]);
}

__global__ void edges(unsigned short *out) {
  half one = __float2half(1.0f), big = __float2half(60000.0f);
  out[0] = __half_as_ushort(big + big);                                  // infinity
  out[1] = __half_as_ushort(__hsub(big + big, big + big));               // NaN
  out[2] = __half_as_ushort(__float2half(2049.0f));                      // a tie: to even
  out[3] = __half_as_ushort(__float2half(2051.0f));
  out[4] = __half_as_ushort(__float2half(6e-8f));                        // subnormal
  out[5] = __half_as_ushort(__float2half_rz(65535.0f));
  out[6] = __half_as_ushort(hsqrt(__int2half_rn(2)));
  out[7] = __half_as_ushort(__hadd_sat(one, one));
  out[8] = __half_as_ushort(__hmax(one, __ushort_as_half(0x7fff)));      // a NaN does not count
  out[9] = __heq(one, one) && !__hgt(one, big) && __hisnan(__ushort_as_half(0x7e00)) && one < big;
  out[10] = __bfloat16_as_ushort(__float2bfloat16(3.14159265f));
  out[11] = __bfloat16_as_ushort(__hmul(__float2bfloat16(1.0078125f), __float2bfloat16(1.0078125f)));
  out[12] = __half2ushort_rn(__float2half(2.5f)) * 10 + __half2int_ru(__float2half(2.25f));
  half2 pair = __floats2half2_rn(1.5f, -2.0f) * __float2half2_rn(2.0f);
  out[13] = (unsigned short)(__low2float(pair) * 10 + __high2float(pair));
}

template <typename T>
__global__ void total(const T *x, int n, T *sum) {
  T mine = T(0.0f);
  for (int i = threadIdx.x; i < n; i += 32) mine += x[i];
  for (int d = 16; d > 0; d /= 2) mine = mine + __shfl_xor_sync(0xffffffff, mine, d);
  if (threadIdx.x == 0) atomicAdd(sum, mine);
}

int main() {
  const int n = 1001;
  std::vector<half> x(n), y(n);
  for (int i = 0; i < n; i++) x[i] = __float2half(float(i % 32)), y[i] = half(1.0f);
  half *d_x, *d_y, *d_sum;
  unsigned short *d_out, out[14];
  CUDA_CALL(cudaMalloc(&d_x, n * sizeof(half)));
  CUDA_CALL(cudaMalloc(&d_y, n * sizeof(half)));
  CUDA_CALL(cudaMalloc(&d_sum, sizeof(half)));
  CUDA_CALL(cudaMalloc(&d_out, sizeof(out)));
  CUDA_CALL(cudaMemcpy(d_x, x.data(), n * sizeof(half), cudaMemcpyHostToDevice));
  CUDA_CALL(cudaMemcpy(d_y, y.data(), n * sizeof(half), cudaMemcpyHostToDevice));
  haxpy<<<4, 64>>>(n, __float2half(0.5f), d_x, d_y);
  CUDA_CALL(cudaMemcpy(y.data(), d_y, n * sizeof(half), cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int i = 0; i < n; i++) wrong += __half2float(y[i]) != 0.5f * (i % 32) + 1.0f;
  printf("%d wrong\n", wrong);
  CUDA_CALL(cudaMemset(d_sum, 0, sizeof(half)));
  total<half><<<1, 32>>>(d_x, 64, d_sum);
  half sum;
  CUDA_CALL(cudaMemcpy(&sum, d_sum, sizeof(half), cudaMemcpyDeviceToHost));
  printf("sum %.1f\n", static_cast<float>(sum));
  edges<<<1, 1>>>(d_out);
  CUDA_CALL(cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 9; i++) printf("%04x ", out[i]);
  printf("%d %04x %04x %d %d\n", out[9], out[10], out[11], out[12], out[13]);
  cudaFree(d_x); cudaFree(d_y); cudaFree(d_sum); cudaFree(d_out);
  return 0;
}
