/// @file
/// Stage 01's variants of GEMM and the blocked one, each beside OpenBLAS on one thread, measured in
/// turns in the same run.
///
/// Run it: `bench_gemm`, or only a part of it: `bench_gemm --benchmark_filter=float/reordered`.
/// Columns: GFLOP/s (2 m n k operations a product) and of_openblas, the variant's speed as a
/// fraction of OpenBLAS's; both from the fastest product, which is the one that nothing else
/// disturbed.

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "01_serial/gemm.hpp"
#include "ladders/gemm/blocked.hpp"
#include "tensor/random.hpp"

namespace stagewise {
namespace {

/// A product, by its place in a network.
struct Size {
  Transpose op_a;
  Transpose op_b;
  Index m;
  Index n;
  Index k;

  std::string name() const {
    std::ostringstream text;
    text << m << "x" << n << "x" << k;
    if (op_a == Transpose::yes) text << "_at";
    if (op_b == Transpose::yes) text << "_bt";
    return text.str();
  }
};

constexpr std::array sizes = {
    // Forward passes: the layers of report 000's network at a batch of 800, then 784-256 at 100.
    Size{Transpose::no, Transpose::no, 800, 1000, 784},
    Size{Transpose::no, Transpose::no, 800, 10, 1000},
    Size{Transpose::no, Transpose::no, 100, 256, 784},
    // Backward passes of 784-256-10 at 100: the first layer's weights, the hidden layer's values.
    Size{Transpose::yes, Transpose::no, 784, 256, 100},
    Size{Transpose::no, Transpose::yes, 100, 256, 10},
};

template <typename T>
std::vector<T> random_matrix(Index elements, std::uint64_t seed) {
  Random random(seed);
  std::vector<T> matrix(static_cast<std::size_t>(elements));
  for (T& value : matrix) value = static_cast<T>(random.uniform(-1, 1));
  return matrix;
}

template <typename T>
using Multiply = std::function<void(const GemmProblem<T>&)>;

template <typename T>
Multiply<T> by(serial::GemmVariant variant) {
  return [=](const GemmProblem<T>& problem) { serial::gemm(variant, problem); };
}

template <typename T>
double seconds(const Multiply<T>& multiply, const GemmProblem<T>& problem) {
  const auto start = std::chrono::steady_clock::now();
  multiply(problem);
  benchmark::ClobberMemory();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <typename T>
void run(benchmark::State& state, const Multiply<T>& multiply, const Size& size) {
  const std::vector<T> a = random_matrix<T>(size.m * size.k, 1);
  const std::vector<T> b = random_matrix<T>(size.k * size.n, 2);
  std::vector<T> c(static_cast<std::size_t>(size.m * size.n));
  const GemmProblem<T> problem{.op_a = size.op_a,
                               .op_b = size.op_b,
                               .m = size.m,
                               .n = size.n,
                               .k = size.k,
                               .a = a.data(),
                               .b = b.data(),
                               .c = c.data()};
  const Multiply<T> blas = by<T>(serial::GemmVariant::blas);
  seconds(blas, problem);  // the first call allocates the library's buffers
  double ours = std::numeric_limits<double>::infinity();
  double reference = ours;
  for ([[maybe_unused]] const auto iteration : state) {
    const double time = seconds(multiply, problem);
    ours = std::min(ours, time);
    reference = std::min(reference, seconds(blas, problem));
    state.SetIterationTime(time);
  }
  const double operations = 2 * static_cast<double>(size.m * size.n * size.k);
  state.counters["GFLOP/s"] = operations / ours * 1e-9;
  state.counters["of_openblas"] = reference / ours;
}

template <typename T>
void add(const std::string& type) {
  std::vector<std::pair<std::string, Multiply<T>>> all = {{"blocked", serial::gemm_blocked<T>}};
  for (const std::string& variant : serial::gemm_variant_names()) {
    all.emplace_back(variant, by<T>(serial::parse_gemm_variant(variant)));
  }
  for (const auto& [variant, multiply] : all) {
    for (const Size& size : sizes) {
      const std::string name = "gemm/" + type + "/" + variant + "/" + size.name();
      benchmark::RegisterBenchmark(name.c_str(), run<T>, multiply, size)
          ->UseManualTime()
          ->Unit(benchmark::kMicrosecond);
    }
  }
}

[[maybe_unused]] const bool added = [] {
  add<float>("float");
  add<double>("double");
  return true;
}();

}  // namespace
}  // namespace stagewise
