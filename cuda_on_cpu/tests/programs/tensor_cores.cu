// Tensor cores, each product against a loop on the host with numbers of which every sum is exact: by wmma, one warp
// for each tile of 16 x 16; and by inline PTX (mma.sync), in the precisions that they have. Inline PTX, too: what a
// thread reads about itself, as articles on warps do.
#include <cstdint>
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

void by_wmma() {
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

// ---------------------------------------------------------------------------------------------------- inline PTX

constexpr int M = 16, N = 8;

__host__ __device__ int a_of(int row, int k) { return (row * 3 + k * 5) % 7 - 3; }
__host__ __device__ int b_of(int k, int column) { return (k * 2 + column * 3) % 5 - 2; }

struct Lane {
  int g, t;
  __device__ Lane() {
    int lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    g = lane >> 2;
    t = lane & 3;
  }
  template <typename T>
  __device__ void store(float* c, T c0, T c1, T c2, T c3) const {
    c[g * N + 2 * t] = static_cast<float>(c0);
    c[g * N + 2 * t + 1] = static_cast<float>(c1);
    c[(g + 8) * N + 2 * t] = static_cast<float>(c2);
    c[(g + 8) * N + 2 * t + 1] = static_cast<float>(c3);
  }
};

__global__ void fp64_k4(float* c) {
  Lane l;
  double a0 = a_of(l.g, l.t), a1 = a_of(l.g + 8, l.t), b = b_of(l.t, l.g);
  double d[4] = {1, 1, 1, 1};
  asm volatile(
      "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
      "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};\n"
      : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
      : "d"(a0), "d"(a1), "d"(b));
  l.store(c, d[0], d[1], d[2], d[3]);
}

__global__ void fp64_m8_twice(float* c) {
  Lane l;
  double d[4] = {1, 1, 1, 1};
  for (int half = 0; half < 2; ++half) {
    asm volatile(
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
        : "+d"(d[2 * half]), "+d"(d[2 * half + 1])
        : "d"(double(a_of(l.g + 8 * half, l.t))), "d"(double(b_of(l.t, l.g))));
  }
  l.store(c, d[0], d[1], d[2], d[3]);
}

__device__ std::uint32_t tf32(float x) {
  std::uint32_t bits = __float_as_uint(x);
  return bits;
}

__global__ void tf32_k8(float* c) {
  Lane l;
  std::uint32_t a[4], b[2];
  for (int r = 0; r < 4; ++r) a[r] = tf32(a_of(l.g + 8 * (r & 1), l.t + 4 * (r >> 1)));
  for (int r = 0; r < 2; ++r) b[r] = tf32(b_of(l.t + 4 * r, l.g));
  float d0, d1, d2, d3;
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%10, %11, %12, %13};\n"
      : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(1.f), "f"(1.f),
        "f"(1.f), "f"(1.f));
  l.store(c, d0, d1, d2, d3);
}

template <typename Pair, typename Make>
__device__ std::uint32_t packed(Make make, int x, int y) {
  Pair pair = make(float(x), float(y));
  std::uint32_t bits;
  memcpy(&bits, &pair, 4);
  return bits;
}

#define MMA_16_BITS(TYPES, D, A, B)                                                            \
  asm volatile("mma.sync.aligned.m16n8k16.row.col." TYPES                                      \
               " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"                      \
               : "+f"(D[0]), "+f"(D[1]), "+f"(D[2]), "+f"(D[3])                                \
               : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]))

template <bool brain>
__global__ void half_k16(float* c) {
  Lane l;
  auto pack = [](int x, int y) {
    if (brain) return packed<__nv_bfloat162>([](float u, float v) { return __floats2bfloat162_rn(u, v); }, x, y);
    return packed<__half2>([](float u, float v) { return __floats2half2_rn(u, v); }, x, y);
  };
  std::uint32_t a[4], b[2];
  for (int r = 0; r < 4; ++r) {
    int row = l.g + 8 * (r & 1), k = 2 * l.t + 8 * (r >> 1);
    a[r] = pack(a_of(row, k), a_of(row, k + 1));
  }
  for (int r = 0; r < 2; ++r) b[r] = pack(b_of(2 * l.t + 8 * r, l.g), b_of(2 * l.t + 8 * r + 1, l.g));
  float d[4] = {1, 1, 1, 1};
  if (brain) {
    MMA_16_BITS("f32.bf16.bf16.f32", d, a, b);
  } else {
    MMA_16_BITS("f32.f16.f16.f32", d, a, b);
  }
  l.store(c, d[0], d[1], d[2], d[3]);
}

__global__ void int8_k32(float* c) {
  Lane l;
  int a[4] = {0, 0, 0, 0}, b[2] = {0, 0}, d[4] = {1, 1, 1, 1};
  for (int r = 0; r < 4; ++r)
    for (int j = 0; j < 4; ++j)
      a[r] |= (a_of(l.g + 8 * (r & 1), 4 * l.t + 16 * (r >> 1) + j) & 0xff) << 8 * j;
  for (int r = 0; r < 2; ++r)
    for (int j = 0; j < 4; ++j) b[r] |= (b_of(4 * l.t + 16 * r + j, l.g) & 0xff) << 8 * j;
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  l.store(c, d[0], d[1], d[2], d[3]);
}

template <typename Kernel>
void check(Kernel kernel, int k) {
  float* c = zeros<float>(M * N);
  kernel<<<1, 32>>>(c);
  OK(cudaDeviceSynchronize());
  for (int row = 0; row < M; ++row) {
    for (int column = 0; column < N; ++column) {
      int sum = 1;
      for (int s = 0; s < k; ++s) sum += a_of(row, s) * b_of(s, column);
      EXPECT(c[row * N + column] == float(sum));
    }
  }
}

static __device__ __inline__ unsigned smid() {
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}
static __device__ __inline__ unsigned lane_mask_lt() {
  unsigned mask;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
  return mask;
}
static __device__ unsigned long long now() {
  unsigned long long time;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
  return time;
}

__global__ void ranks(int n, int* places) {
  unsigned warp, thread, block, threads;
  asm("mov.u32 %0, %%warpid;" : "=r"(warp));
  asm("mov.u32 %0, %%tid.x;" : "=r"(thread));
  asm("mov.u32 %0, %%ctaid.x;" : "=r"(block));
  asm("mov.u32 %0, %%ntid.x;" : "=r"(threads));
  unsigned long long begin = now();
  int i = block * threads + thread;
  bool wanted = i < n && i % 3 == 0;
  unsigned votes = __ballot_sync(0xffffffff, wanted);
  if (i < n) places[i] = wanted ? __popc(votes & lane_mask_lt()) + 100 * (int)warp : -1;
  if (smid() > 1000 || now() < begin) places[i] = -2;
}

int main() {
  by_wmma();
  check(fp64_k4, 4);
  check(fp64_m8_twice, 4);
  check(tf32_k8, 8);
  check(half_k16<false>, 16);
  check(half_k16<true>, 16);
  check(int8_k32, 32);

  int* places = zeros<int>(96);
  ranks<<<2, 64>>>(96, places);
  OK(cudaDeviceSynchronize());
  const int expected[] = {0, 3, 6, 9, 101, 104, 107, 110, 2, 5, 8};
  for (int i = 0; i < 11; ++i) EXPECT(places[9 * i] == expected[i]);
  EXPECT(places[1] == -1);
}
