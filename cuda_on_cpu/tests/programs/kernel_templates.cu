// Reductions by policy, with the memory in a class that gives it back.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

inline void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

template <typename T>
class Buffer {
 public:
  explicit Buffer(std::size_t size) : size_(size) { check(cudaMalloc(&data_, size * sizeof(T)), "cudaMalloc"); }
  explicit Buffer(const std::vector<T>& host) : Buffer(host.size()) {
    check(cudaMemcpy(data_, host.data(), size_ * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { cudaFree(data_); }
  T* get() const { return data_; }
  std::vector<T> to_host() const {
    std::vector<T> host(size_);
    check(cudaMemcpy(host.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return host;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

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
T reduced(const Buffer<T>& in, int n) {
  Buffer<T> out(1);
  kernels::reduce<P, T, Squares><<<1, P::threads>>>(in.get(), out.get(), n);
  check(cudaGetLastError(), "reduce");
  return out.to_host().front();
}

int main() {
  std::vector<int> host(777);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<int>(i * 7919 % 1009);
  try {
    const Buffer<int> in(host);
    const int n = static_cast<int>(host.size());
    std::printf("%d %d\n", reduced<Policy<64, Plus>>(in, n), reduced<Policy<256, Maximum>, int, true>(in, n));
    Buffer<int> out(1);
    kernels::reduce<Policy<32, Plus>, std::common_type_t<int, std::decay_t<std::add_const_t<int>>>>
        <<<1, Policy<32, std::conditional_t<true, Plus, Maximum>>::threads>>>(in.get(), out.get(), 3, 1000);
    std::printf("%d\n", out.to_host()[0]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
