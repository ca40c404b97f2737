// Templates: reductions by policy, launches whose template arguments are expressions, and __launch_bounds__ wherever it
// may stand. Every launch keeps to its bound.
#include <type_traits>
#include <utility>

#include "expect.h"

struct Plus {
  template <typename T> __host__ __device__ T operator()(T a, T b) const { return a + b; }
};
struct Maximum {
  template <typename T> __host__ __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};
template <typename T> struct Wrapped { T value; };
template <int Threads, typename Op> struct Policy {
  static constexpr int threads = Threads;
  using Operation = Op;
};

namespace kernels {

template <typename P, typename T, bool Squares = false>
__global__ void __launch_bounds__(P::threads)
reduce(const T* __restrict__ in, T* out, int n, T first = T(), typename P::Operation op = {}) {
  __shared__ Wrapped<T> parts[P::threads];
  T value = first;
  for (int i = threadIdx.x; i < n; i += P::threads) {
    if constexpr (Squares) value = op(value, in[i] * in[i]);
    else value = op(value, in[i]);
  }
  parts[threadIdx.x].value = value;
  for (int half = P::threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) parts[threadIdx.x].value = op(parts[threadIdx.x].value, parts[threadIdx.x + half].value);
  }
  if (threadIdx.x == 0) *out = parts[0].value;
}

}  // namespace kernels

template <typename P, typename T, bool Squares = false>
T reduced(const T* in, int n) {
  T* out = zeros<T>(1);
  kernels::reduce<P, T, Squares><<<1, P::threads>>>(in, out, n);
  OK(cudaDeviceSynchronize());
  return *out;
}

constexpr int kThreads = 64;

__global__ void __launch_bounds__(kThreads) before_name(int* x) { x[threadIdx.x] = 1; }
__global__ __launch_bounds__(2 * kThreads, 2) void before_type(int* x) { x[threadIdx.x] += 2; }
__launch_bounds__(128) __global__ void before_all(int* x) { x[threadIdx.x] += 4; }
extern "C" __global__ void __launch_bounds__(1024, 1) in_c(int* x) { x[threadIdx.x] += 8; }

template <typename T, int Threads>
__global__ static void
__launch_bounds__(Threads, (Threads > 64) ? 1 : 2)
of_template(T* x, T by = T(16)) {
  x[threadIdx.x] += by;
}

template <int... Sizes> struct Sum { static constexpr int value = (Sizes + ... + 0); };
__global__ void __launch_bounds__(Sum<32, 32>::value, 1) computed(int* __restrict__ x) { x[threadIdx.x] += 32; }

__global__ void __launch_bounds__(96) declared_first(int* x);
__global__ void __launch_bounds__(96) declared_first(int* x) { x[threadIdx.x] += 64; }

__global__ void unbounded(int* x) { x[threadIdx.x] += 128; }

int main() {
  const int n = 777;
  int* in = zeros<int>(1024);
  int* out = zeros<int>(1);
  for (int i = 0; i < n; ++i) in[i] = i * 7919 % 1009;
  EXPECT(reduced<Policy<64, Plus>>(in, n) == 392099);
  EXPECT(reduced<Policy<256, Maximum>, int, true>(in, n) == 1008 * 1008);
  kernels::reduce<Policy<32, Plus>, std::common_type_t<int, std::decay_t<std::add_const_t<int>>>>
      <<<1, Policy<32, std::conditional_t<true, Plus, Maximum>>::threads>>>(in, out, 3, 1000);
  RESULT(*out == 33559);

  before_name<<<1, kThreads>>>(in);
  before_type<<<1, dim3(128)>>>(in);
  before_all<<<1, 128>>>(in);
  in_c<<<1, 1024>>>(in);
  of_template<int, kThreads><<<1, kThreads>>>(in);
  computed<<<1, 64>>>(in);
  void (*by_pointer)(int*) = declared_first;
  by_pointer<<<1, 96>>>(in);
  unbounded<<<1, 512>>>(in);
  RESULT(in[0] == 255 && in[63] == 255);
}
