/*
 * Sum of an array, three ways: by shuffles of a warp, by __reduce_add_sync and by a tree in
 * shared memory that ends in a warp.  Adapted to a course's style: CHECK macro, integers only.
 */
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                              \
  do {                                                                           \
    cudaError_t status_ = (call);                                                \
    if (status_ != cudaSuccess) {                                                \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      exit(EXIT_FAILURE);                                                        \
    }                                                                            \
  } while (0)

#define FULL_MASK 0xffffffffu

template <typename T>
__inline__ __device__ T warpReduceSum(T val) {
#pragma unroll
  for (int offset = warpSize / 2; offset > 0; offset >>= 1)
    val += __shfl_down_sync(FULL_MASK, val, offset);
  return val;
}

template <typename T>
__inline__ __device__ T blockReduceSum(T val) {
  static __shared__ T shared[32];
  int lane = threadIdx.x % warpSize, wid = threadIdx.x / warpSize;
  val = warpReduceSum(val);
  if (lane == 0) shared[wid] = val;
  __syncthreads();
  val = (threadIdx.x < blockDim.x / warpSize) ? shared[lane] : T(0);
  if (wid == 0) val = warpReduceSum(val);
  return val;
}

template <typename T>
__global__ void sumByShuffles(const T* __restrict__ in, unsigned long long* out, size_t n) {
  T sum = 0;
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    sum += __ldg(in + i);
  sum = blockReduceSum(sum);
  if (threadIdx.x == 0) atomicAdd(out, (unsigned long long)sum);
}

__global__ void sumByReduce(const unsigned* in, unsigned long long* out, size_t n) {
  size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned value = i < n ? in[i] : 0u;
  unsigned sum = __reduce_add_sync(FULL_MASK, value);
  unsigned most = __reduce_max_sync(FULL_MASK, value);
  if ((threadIdx.x & 31) == __ffs(__ballot_sync(FULL_MASK, value == most)) - 1)
    atomicAdd(out, (unsigned long long)sum);
}

// Segments of 8 lanes each find their own maximum.
__global__ void maximaOfEight(const unsigned* in, unsigned* out) {
  unsigned v = in[threadIdx.x];
  for (int m = 4; m >= 1; m /= 2) v = umax(v, __shfl_xor_sync(FULL_MASK, v, m, 8));
  if ((threadIdx.x & 7) == 0) out[threadIdx.x / 8] = v;
}

int main() {
  const size_t n = 10007;
  unsigned* host = (unsigned*)malloc(n * sizeof(unsigned));
  unsigned long long expected = 0;
  for (size_t i = 0; i < n; ++i) expected += host[i] = (unsigned)(i * 2654435761u >> 20) & 4095u;

  unsigned *in, *maxima;
  unsigned long long *out, result;
  CHECK(cudaMalloc(&in, n * sizeof(unsigned)));
  CHECK(cudaMalloc(&out, sizeof(*out)));
  CHECK(cudaMalloc(&maxima, 4 * sizeof(unsigned)));
  CHECK(cudaMemcpy(in, host, n * sizeof(unsigned), cudaMemcpyHostToDevice));

  CHECK(cudaMemset(out, 0, sizeof(*out)));
  sumByShuffles<unsigned><<<8, 256>>>(in, out, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(&result, out, sizeof(result), cudaMemcpyDeviceToHost));
  printf("shuffles: %s\n", result == expected ? "right" : "WRONG");

  CHECK(cudaMemset(out, 0, sizeof(*out)));
  sumByReduce<<<(n + 127) / 128, 128>>>(in, out, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(&result, out, sizeof(result), cudaMemcpyDeviceToHost));
  printf("reduce:   %s\n", result == expected ? "right" : "WRONG");

  unsigned m[4];
  maximaOfEight<<<1, 32>>>(in, maxima);
  CHECK(cudaMemcpy(m, maxima, sizeof(m), cudaMemcpyDeviceToHost));
  printf("maxima:   %u %u %u %u\n", m[0], m[1], m[2], m[3]);
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  CHECK(cudaFree(maxima));
  free(host);
  return 0;
}
