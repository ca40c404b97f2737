// What C++17 takes and C++20 does not, or otherwise.
//> µs 12 27 6, 1 1
#include <functional>
#include <type_traits>

#include "expect.h"

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
  const int numbers[] = {range.first, range.last, increase(1)};
  int* values = zeros<int>(3);
  memcpy(values, numbers, sizeof numbers);
  apply<<<1, (unsigned)(sizeof numbers / sizeof(int))>>>(Triple(), values);
  OK(cudaDeviceSynchronize());
  Cell a{1}, b{2};
  printf("%s %d %d %d, %d %d\n", text, values[0], values[1], values[2], a != b, (int)is_odd(3));
}
