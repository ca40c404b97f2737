#include "check_cuda.hpp"

#include EXERCISE_FILE

namespace exercise {
namespace {

/// Thread i loads number factor i / divisor + offset, and the offset grows by `per_block`.
template <class T>
__global__ void load_kernel(int factor, int divisor, int offset, int per_block, const T* x, T* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int own = per_block == 0 ? i : static_cast<int>(threadIdx.x);
  y[i] = x[factor * own / divisor + offset + per_block * static_cast<int>(blockIdx.x)];
}

/// What a load takes, counted.
template <class T>
double sectors(int factor, int divisor, int offset, int per_block = 0) {
  constexpr int threads = 64;
  DeviceArray<T> x(std::vector<T>(100 * threads), "x");
  DeviceArray<T> y(threads, "y");
  double result = 0;
  count(
      [&] {
        load_kernel<<<threads / 32, 32>>>(factor, divisor, offset, per_block, x.data(), y.data());
      },
      [&](const Counts& counts) { result = counts.sectors_per_load; });
  return result;
}

struct Prediction {
  std::string load;
  std::string name;  ///< of the constant
  double sectors;
  double counted;
  std::string advice;
};

}  // namespace

void check() {
  const std::vector<Prediction> predictions = {
      {"x[i] of floats", "floats", floats, sectors<float>(1, 1, 0),
       "how many bytes do the 32 threads need together?"},
      {"x[31 - threadIdx.x + 32 * blockIdx.x] of floats", "floats_reversed", floats_reversed,
       sectors<float>(-1, 1, 31, 32), "which bytes do the 32 threads need, whoever reads them?"},
      {"x[i] of doubles", "doubles", doubles, sectors<double>(1, 1, 0),
       "how many bytes has a double, how many of them are in a sector?"},
      {"x[2 * i] of floats", "every_second_float", every_second_float, sectors<float>(2, 1, 0),
       "between which bytes do the numbers lie, and which sectors between them are left out?"},
      {"x[i / 2] of floats", "floats_in_pairs", floats_in_pairs, sectors<float>(1, 2, 0),
       "how many different numbers do the 32 threads need?"},
      {"x[100 * i] of floats", "column", column, sectors<float>(100, 1, 0),
       "how many bytes lie between the numbers of two threads, and can these be in one sector?"},
      {"x[0] of floats", "same_float", same_float, sectors<float>(0, 1, 0),
       "how many different numbers do the 32 threads need?"},
      {"x[i + 1] of floats", "floats_from_second", floats_from_second, sectors<float>(1, 1, 1),
       "in which sector is the first byte of thread 0, in which one the last byte of thread 31?"}};
  if (!is_counting()) return;
  for (const Prediction& one : predictions) {
    if (one.sectors != one.counted) continue;
    pass(say("a warp that loads ", one.load, " takes ", one.counted, " sectors"));
  }
  for (const Prediction& one : predictions) {
    expect(one.sectors != 0, "There is no prediction yet for a warp that loads ", one.load,
           ": replace the 0 of '", one.name, "' by a number of sectors.");
    expect(one.sectors == one.counted, "For a warp that loads ", one.load, ", ", one.sectors,
           " sectors are too ", one.sectors < one.counted ? "low" : "high", ": ", one.advice);
  }
}

}  // namespace exercise
