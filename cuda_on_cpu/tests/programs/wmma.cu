// C = alpha * A * B + beta * C by tensor cores, one warp for each tile of 16 x 16.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include "expect.h"

using namespace nvcuda;

constexpr int WMMA_M = 16, WMMA_N = 16, WMMA_K = 16, WARP_SIZE = 32;

__global__ void wmma_example(const half *a, const half *b, float *c, int M, int N, int K, float alpha, float beta) {
  int lda = M, ldb = K, ldc = M;
  int warpM = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
  int warpN = (blockIdx.y * blockDim.y + threadIdx.y);

  wmma::fragment<wmma::matrix_a, WMMA_M, WMMA_N, WMMA_K, half, wmma::col_major> a_frag;
  wmma::fragment<wmma::matrix_b, WMMA_M, WMMA_N, WMMA_K, half, wmma::col_major> b_frag;
  wmma::fragment<wmma::accumulator, WMMA_M, WMMA_N, WMMA_K, float> acc_frag;
  wmma::fragment<wmma::accumulator, WMMA_M, WMMA_N, WMMA_K, float> c_frag;
  wmma::fill_fragment(acc_frag, 0.0f);

  for (int i = 0; i < K; i += WMMA_K) {
    int aRow = warpM * WMMA_M, aCol = i, bRow = i, bCol = warpN * WMMA_N;
    if (aRow < M && aCol < K && bRow < K && bCol < N) {
      wmma::load_matrix_sync(a_frag, a + aRow + aCol * lda, lda);
      wmma::load_matrix_sync(b_frag, b + bRow + bCol * ldb, ldb);
      wmma::mma_sync(acc_frag, a_frag, b_frag, acc_frag);
    }
  }
  int cRow = warpM * WMMA_M, cCol = warpN * WMMA_N;
  if (cRow < M && cCol < N) {
    wmma::load_matrix_sync(c_frag, c + cRow + cCol * ldc, ldc, wmma::mem_col_major);
    for (int i = 0; i < c_frag.num_elements; i++) c_frag.x[i] = alpha * acc_frag.x[i] + beta * c_frag.x[i];
    wmma::store_matrix_sync(c + cRow + cCol * ldc, c_frag, ldc, wmma::mem_col_major);
  }
}

template <class T, class Sum>
__device__ void product(const T *a, const T *b, Sum *sums) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> a_frag;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::row_major> b_frag;
  wmma::fragment<wmma::accumulator, 16, 16, 16, Sum> sum_frag;
  wmma::fill_fragment(sum_frag, Sum(0));
  wmma::load_matrix_sync(a_frag, a, 16);
  wmma::load_matrix_sync(b_frag, b, 16);
  wmma::mma_sync(sum_frag, a_frag, b_frag, sum_frag);
  wmma::store_matrix_sync(sums, sum_frag, 16, wmma::mem_row_major);
}

// One warp, other types: tf32, bfloat16 and bytes, through shared memory.
__global__ void other_types(const float *a, const float *b, float *tf, float *bf, int *bytes) {
  __shared__ __align__(32) float sa[16 * 16];
  __shared__ __align__(32) __nv_bfloat16 ha[256], hb[256];
  __shared__ __align__(32) signed char ba[256], bb[256];
  for (int i = threadIdx.x; i < 256; i += 32) {
    sa[i] = a[i];
    ha[i] = __float2bfloat16(a[i]); hb[i] = __float2bfloat16(b[i]);
    ba[i] = (signed char)__float2int_rn(a[i] * 8); bb[i] = (signed char)__float2int_rn(b[i] * 8);
  }
  __syncwarp();
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> ta;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> tb;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> tc;
  wmma::fill_fragment(tc, 0.0f);
  for (int k = 0; k < 16; k += 8) {
    wmma::load_matrix_sync(ta, sa + k, 16);
    wmma::load_matrix_sync(tb, b + k * 16, 16);
    for (int t = 0; t < ta.num_elements; t++) ta.x[t] = wmma::__float_to_tf32(ta.x[t]);
    for (int t = 0; t < tb.num_elements; t++) tb.x[t] = wmma::__float_to_tf32(tb.x[t]);
    wmma::mma_sync(tc, ta, tb, tc);
  }
  wmma::store_matrix_sync(tf, tc, 16, wmma::mem_row_major);

  product(ha, hb, bf);
  product(ba, bb, bytes);
}

int main() {
  const int M = 64, N = 48, K = 32;
  const float alpha = 2.0f, beta = 0.5f;
  half *a = zeros<half>(M * K), *b = zeros<half>(K * N);
  float *c = zeros<float>(M * N), *expected = zeros<float>(M * N);
  for (int i = 0; i < M * K; i++) a[i] = __float2half((i * 7 % 23 - 11) / 8.0f);
  for (int i = 0; i < K * N; i++) b[i] = __float2half((i * 5 % 19 - 9) / 4.0f);
  for (int j = 0; j < N; j++)
    for (int i = 0; i < M; i++) {
      c[i + j * M] = float(i - j);
      float sum = 0;
      for (int k = 0; k < K; k++) sum += __half2float(a[i + k * M]) * __half2float(b[k + j * K]);
      expected[i + j * M] = alpha * sum + beta * c[i + j * M];
    }
  dim3 block(128, 4);
  dim3 grid((M + WMMA_M * block.x / 32 - 1) / (WMMA_M * block.x / 32), (N + WMMA_N * block.y - 1) / (WMMA_N * block.y));
  wmma_example<<<grid, block>>>(a, b, c, M, N, K, alpha, beta);
  RESULT(memcmp(c, expected, M * N * sizeof(float)) == 0);

  float *x = zeros<float>(256), *y = zeros<float>(256), *tf = zeros<float>(256), *bf = zeros<float>(256);
  int *bytes = zeros<int>(256);
  for (int i = 0; i < 256; i++) x[i] = (i * 3 % 17 - 8) / 8.0f, y[i] = (i * 11 % 13 - 6) / 8.0f;
  x[0] = 1.0f + 1.0f / 4096;  // more than 10 bits: rounded away
  other_types<<<1, 32>>>(x, y, tf, bf, bytes);
  OK(cudaDeviceSynchronize());
  x[0] = 1.0f;
  for (int i = 0; i < 256; i++) {
    float sum = 0;
    for (int k = 0; k < 16; k++) sum += x[i / 16 * 16 + k] * y[k * 16 + i % 16];
    EXPECT(tf[i] == sum && bf[i] == sum && bytes[i] == (int)(sum * 64));
  }
}
