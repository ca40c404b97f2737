// What C++17 takes and C++20 does not, or otherwise.
//> µs 12 27 6, 1 1
#include <cstdio>
#include <functional>
#include <type_traits>
#include <vector>

struct Range {
  Range() = delete;
  int first, last;
};

struct Cell {
  int row;
  bool operator==(const Cell& other) { return row == other.row; }
  bool operator!=(const Cell& other) { return !(*this == other); }
};

int increase(int by) { return by + 1; }

template <class F>
__global__ void apply(F f, int* values) {
  typename std::result_of<F(int)>::type result = f(values[threadIdx.x]);
  values[threadIdx.x] = result;
}

struct Triple {
  __host__ __device__ int operator()(int x) const { return 3 * x; }
};

int main() {
  const char* text = u8"µs";
  const Range range{4, 9};
  std::unary_negate<std::function<bool(int)>> is_odd(std::function<bool(int)>([](int x) { return x % 2 == 0; }));
  std::vector<int> host = {range.first, range.last, increase(1)};
  int* values;
  cudaMalloc(&values, host.size() * sizeof(int));
  cudaMemcpy(values, host.data(), host.size() * sizeof(int), cudaMemcpyHostToDevice);
  apply<<<1, (unsigned)host.size()>>>(Triple(), values);
  cudaMemcpy(host.data(), values, host.size() * sizeof(int), cudaMemcpyDeviceToHost);
  Cell a{1}, b{2};
  printf("%s %d %d %d, %d %d\n", text, host[0], host[1], host[2], a != b, (int)is_odd(3));
  cudaFree(values);
  return 0;
}
