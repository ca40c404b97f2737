// Local variables that are declared without a value. Variant 0 is right, though not all of them get
// one everywhere; the others make one mistake each, at the lines that say so.
#include <cstring>

#include "device_memory.h"

__global__ void reverse(int variant, const float* x, float* y) {
  float tile[8][4], none = 0;
  __shared__ float shared_tile[8][4];
  const int t = threadIdx.x;
  (variant == 1 ? tile : shared_tile)[t / 4][t % 4] = x[t];
  __syncthreads();
  y[t] = (variant == 1 ? tile : shared_tile)[7 - t / 4][3 - t % 4] + none;  // 1: local
}

template <class T, int n>
__device__ T total(int variant, const T* x) {
  T sum, parts[n];
  if (variant != 2) sum = 0;
  for (int i = variant == 3; i < n; ++i) parts[i] = x[i];
  for (int i = 0; i < n; ++i) {
    sum +=         // 2: local
        parts[i];  // 3: local
  }
  return sum;
}
__global__ void totals(int variant, const float* x, double* y) {
  y[3 + threadIdx.x] = total<double, 3>(variant, y) + total<float, 5>(0, x);
}

__device__ void swap(int* a, int& b) {
  const int c = *a;  // 4: local
  *a = b;
  b = c;
}
__global__ void branches(int variant, const float* x, float* y) {
  unsigned t = threadIdx.x, chosen;
  int here, there = 2, *place = &there, of_case;
  if (variant != 4) here = 1;
  swap(&here, *place);
  switch (t % 3) {
    int unused;
    case 0:
      of_case = 1;
      break;
    case 1:
      unused = 2;
      of_case = unused;
      break;
    default:
      if (variant != 5) of_case = 3;
  }
  y[t] = of_case + here;  // 5: local
  for (int i = 0; i < 32; ++i) {
    if (x[i] > 0.5F) chosen = i;
  }
  y[t] += chosen;
}

struct Pair {
  float values[2];
  int number;
};
constexpr __device__ int square(int i) {
  return i * i;
}
// None of these is a mistake: copies of what is set only in part, what is given to other lanes, and
// what is set last.
__global__ void look_alikes(const float* x, float* y) {
  const int t = threadIdx.x;
  struct Sum {
    float all[2];
    int n;
  } sum;
  sum.n = 1;
  Pair pair, copy;
  pair.number = square(2);
  copy = pair;
  alignas(16) float few[8], same[8];
  *reinterpret_cast<float4*>(few) = make_float4(1, 2, 3, 4);
  memcpy(same, few, sizeof few);
  float mine;
  if (t < 16) mine = x[t];
  const float other = __shfl_down_sync(0xffffffff, mine, 1);
  float first, last;
  bool is_first = true;
  for (int i = 0; i < 32; ++i) {
    if (x[i] < 0) continue;
    if (is_first) first = x[i];
    last = is_first ? 0 : last + x[i];
    is_first = false;
  }
  const auto twice = [&](int i) {
    int result;
    result = 2 * i;
    return result;
  };
  y[t] = sum.n + copy.number + same[3] + (t < 15 ? other : 0) + first + last + twice(t);
}

int main(int, char** arguments) {
  const int variant = std::atoi(arguments[1]);
  float host[32];
  for (float& value : host) value = 1;
  auto* const x = unset<float>(32);
  auto* const y = unset<float>(32);
  auto* const z = zeros<double>(32);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  reverse<<<1, 32>>>(variant, x, y);
  totals<<<1, 3>>>(variant, x, z);
  branches<<<1, 32>>>(variant, x, y);
  look_alikes<<<1, 32>>>(x, y);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
