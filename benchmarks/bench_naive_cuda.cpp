/// @file
/// Stage 02's GEMM for each size of its blocks of threads: report 000's table 2 on this kernel.
///
/// Run it: `bench_naive_cuda`, or a part of it: `bench_naive_cuda --benchmark_filter=double`.
/// A measurement is a hundred products in a row between two events, so that the time is the GPU's.
/// Columns: us of a product, GFLOP/s (2 m n k operations a product).

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "02_naive_cuda/kernels.hpp"
#include "cuda/check.hpp"
#include "cuda/handles.hpp"
#include "cuda/memory.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

namespace stagewise {
namespace {

struct Size {
  Index m;
  Index n;
  Index k;
};

/// Report 000's test of its GEMM, then the first layer of 784-256-10 at a batch of 1,000.
constexpr std::array sizes = {Size{800, 1000, 784}, Size{800, 10, 1000}, Size{1000, 256, 784}};
constexpr std::array block_sizes = {4, 8, 16, 32};

template <typename T>
Tensor<T> random_matrix(Index elements, std::uint64_t seed) {
  Random random(seed);
  std::vector<T> values(static_cast<std::size_t>(elements));
  for (T& value : values) value = static_cast<T>(random.uniform(-1, 1));
  Tensor<T> matrix({elements}, cuda::device_memory());
  CUDA_CHECK(
      cudaMemcpy(matrix.data(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return matrix;
}

template <typename T>
void run(benchmark::State& state, const Size& size, int block_size) {
  constexpr int products = 100;
  const Tensor<T> a = random_matrix<T>(size.m * size.k, 1);
  const Tensor<T> b = random_matrix<T>(size.k * size.n, 2);
  Tensor<T> c = random_matrix<T>(size.m * size.n, 3);
  const GemmProblem<T> problem{
      .m = size.m, .n = size.n, .k = size.k, .a = a.data(), .b = b.data(), .c = c.data()};
  const cuda::Stream stream;
  const cuda::TimedEvent start;
  const cuda::TimedEvent end;
  const auto measure = [&] {
    start.record(stream);
    for (int i = 0; i < products; ++i) naive_cuda::gemm(stream.get(), problem, block_size);
    end.record(stream);
    stream.synchronize();
    return end.seconds_since(start) / products;
  };
  measure();  // warms up
  std::vector<double> times;
  for (auto _ : state) {
    times.push_back(measure());
    state.SetIterationTime(times.back());
  }
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  state.counters["us"] = 1e6 * median;
  state.counters["GFLOP/s"] = 2e-9 * static_cast<double>(size.m * size.n * size.k) / median;
}

template <typename T>
void register_all(const std::string& precision) {
  for (const Size& size : sizes) {
    for (const int block_size : block_sizes) {
      const std::string name = "naive_gemm/" + precision + "/" + std::to_string(size.m) + "x" +
                               std::to_string(size.n) + "x" + std::to_string(size.k) + "/block_" +
                               std::to_string(block_size);
      benchmark::RegisterBenchmark(
          name.c_str(), [=](benchmark::State& state) { run<T>(state, size, block_size); })
          ->UseManualTime()
          ->Iterations(20);
    }
  }
}

const bool registered = [] {
  register_all<float>("float");
  register_all<double>("double");
  return true;
}();

}  // namespace
}  // namespace stagewise
