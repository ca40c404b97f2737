// C = alpha * A * B + beta * C by tensor cores, one warp for each tile of 16 x 16.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cmath>
#include <cstdio>
#include <vector>

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

  wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  wmma::load_matrix_sync(fa, ha, 16);
  wmma::load_matrix_sync(fb, hb, 16);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(bf, fc, 16, wmma::mem_row_major);

  wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> ia;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::row_major> ib;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> ic;
  wmma::fill_fragment(ic, 0);
  wmma::load_matrix_sync(ia, ba, 16);
  wmma::load_matrix_sync(ib, bb, 16);
  wmma::mma_sync(ic, ia, ib, ic);
  wmma::store_matrix_sync(bytes, ic, 16, wmma::mem_row_major);
}

int main() {
  const int M = 64, N = 48, K = 32;
  const float alpha = 2.0f, beta = 0.5f;
  half *a, *b;
  float *c;
  cudaMallocManaged(&a, M * K * sizeof(half));
  cudaMallocManaged(&b, K * N * sizeof(half));
  cudaMallocManaged(&c, M * N * sizeof(float));
  for (int i = 0; i < M * K; i++) a[i] = __float2half((i * 7 % 23 - 11) / 8.0f);
  for (int i = 0; i < K * N; i++) b[i] = __float2half((i * 5 % 19 - 9) / 4.0f);
  std::vector<float> expected(M * N);
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
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  int wrong = 0;
  for (int i = 0; i < M * N; i++) wrong += c[i] != expected[i];
  printf("half: %d of %d differ\n", wrong, M * N);

  float *x, *y, *tf, *bf;
  int *bytes;
  cudaMallocManaged(&x, 1024); cudaMallocManaged(&y, 1024);
  cudaMallocManaged(&tf, 1024); cudaMallocManaged(&bf, 1024); cudaMallocManaged(&bytes, 1024);
  for (int i = 0; i < 256; i++) x[i] = (i * 3 % 17 - 8) / 8.0f, y[i] = (i * 11 % 13 - 6) / 8.0f;
  x[0] = 1.0f + 1.0f / 4096;  // more than 10 bits: rounded away
  other_types<<<1, 32>>>(x, y, tf, bf, bytes);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  x[0] = 1.0f;
  int wt = 0, wb = 0, wi = 0;
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 16; j++) {
      float sum = 0;
      for (int k = 0; k < 16; k++) sum += x[i * 16 + k] * y[k * 16 + j];
      wt += tf[i * 16 + j] != sum; wb += bf[i * 16 + j] != sum; wi += bytes[i * 16 + j] != (int)(sum * 64);
    }
  printf("tf32: %d, bf16: %d, int8: %d differ\n", wt, wb, wi);
  return wrong + wt + wb + wi;
}
