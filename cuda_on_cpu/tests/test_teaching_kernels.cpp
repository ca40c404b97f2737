#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "kernels/teaching_kernels.hpp"

#ifdef CUDA_ON_CPU
#include "cuda_on_cpu/settings.hpp"
#endif

namespace teaching {
namespace {

// ---------------------------------------------------------------------------------- serial results

/// Small whole numbers: their sums are exact in every order, so that results can be compared bit by
/// bit.
class Data {
 public:
  explicit Data(std::uint32_t seed) : engine_(seed) {}

  /// From low to high, both included.
  int number(int low, int high) {
    return low + static_cast<int>(engine_() % static_cast<std::uint32_t>(high - low + 1));
  }

  template <typename T>
  std::vector<T> numbers(int n) {
    std::vector<T> values(static_cast<std::size_t>(n));
    for (T& value : values) value = static_cast<T>(number(-100, 100));
    return values;
  }

 private:
  std::mt19937 engine_;
};

template <typename T>
std::vector<T> serial_transpose(const std::vector<T>& x, std::size_t rows, std::size_t cols) {
  std::vector<T> y(x.size());
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t col = 0; col < cols; ++col) y[col * rows + row] = x[row * cols + col];
  }
  return y;
}

template <typename T>
T serial_sum(const std::vector<T>& x) {
  return std::accumulate(x.begin(), x.end(), T(0));
}

template <typename T>
std::vector<T> serial_row_sums(const std::vector<T>& x, int rows, int cols) {
  std::vector<T> sums;
  for (int row = 0; row < rows; ++row) {
    sums.push_back(std::accumulate(x.begin() + row * cols, x.begin() + (row + 1) * cols, T(0)));
  }
  return sums;
}

template <typename T>
std::vector<T> serial_moving_average(const std::vector<T>& x, int radius) {
  const int n = static_cast<int>(x.size());
  std::vector<T> means;
  for (int i = 0; i < n; ++i) {
    const int first = std::max(i - radius, 0);
    const int end = std::min(i + radius, n - 1) + 1;
    const T sum = std::accumulate(x.begin() + first, x.begin() + end, T(0));
    means.push_back(sum / static_cast<T>(end - first));
  }
  return means;
}

// ------------------------------------------------------------------------------ kernel and its
// twin

// Each runs a kernel on n elements, or about so many, and expects the serial result.

template <typename T>
void expect_saxpy(Data& data, int n) {
  const T a = static_cast<T>(data.number(2, 9));
  const std::vector<T> x = data.numbers<T>(n);
  const std::vector<T> y = data.numbers<T>(n);
  std::vector<T> expected = y;
  for (std::size_t i = 0; i < x.size(); ++i) expected[i] += a * x[i];
  EXPECT_EQ(saxpy(a, x, y), expected);
}

template <typename T>
void expect_transpose(Data& data, int n) {
  const int rows = data.number(1, 70);
  const int cols = n / rows + 1;
  const std::vector<T> x = data.numbers<T>(rows * cols);
  EXPECT_EQ(transpose(x, rows, cols),
            serial_transpose(x, static_cast<std::size_t>(rows), static_cast<std::size_t>(cols)));
}

template <typename T>
void expect_block_reduction(Data& data, int n) {
  const std::vector<T> x = data.numbers<T>(n);
  EXPECT_EQ(block_reduction(x), serial_sum(x));
}

template <typename T>
void expect_warp_reduction(Data& data, int n) {
  const int cols = data.number(1, 150);
  const int rows = n / cols + 1;
  const std::vector<T> x = data.numbers<T>(rows * cols);
  EXPECT_EQ(warp_reduction(x, rows, cols), serial_row_sums(x, rows, cols));
}

template <typename T>
void expect_moving_average(Data& data, int n) {
  const std::vector<T> x = data.numbers<T>(n);
  const int radius = data.number(0, 40);
  EXPECT_EQ(moving_average(x, radius), serial_moving_average(x, radius));
}

template <typename T>
void expect_histogram(Data& data, int n) {
  const int bins = data.number(1, 12);
  const std::vector<T> weights = data.numbers<T>(n);
  std::vector<std::int32_t> labels;
  std::vector<T> expected(static_cast<std::size_t>(bins));
  for (const T weight : weights) {
    labels.push_back(data.number(0, bins - 1));
    expected[static_cast<std::size_t>(labels.back())] += weight;
  }
  EXPECT_EQ(histogram(labels, weights, bins), expected);
}

template <typename T>
void expect_two_streams(Data& data, int n) {
  const std::vector<T> x = data.numbers<T>(n);
  std::vector<T> expected = x;
  for (T& value : expected) value = 2 * (value + 1);
  EXPECT_EQ(two_streams(x), expected);
}

template <typename T>
void expect_captured_graph(Data& data, int n) {
  const std::vector<T> x = data.numbers<T>(n);
  const int steps = data.number(0, 8);
  std::vector<T> expected = x;
  for (T& value : expected) {
    for (int step = 0; step < steps; ++step) value = value / 2 + 1;
  }
  EXPECT_EQ(captured_graph(x, steps), expected);
}

template <typename T>
void expect_cooperative_sum(Data& data, int n) {
  const std::vector<T> x = data.numbers<T>(n);
  EXPECT_EQ(cooperative_sum(x), serial_sum(x));
}

struct Kernel {
  std::string name;
  void (*in_float)(Data&, int);
  void (*in_double)(Data&, int);
};

std::vector<Kernel> kernels() {
  return {{"Saxpy", expect_saxpy<float>, expect_saxpy<double>},
          {"Transpose", expect_transpose<float>, expect_transpose<double>},
          {"BlockReduction", expect_block_reduction<float>, expect_block_reduction<double>},
          {"WarpReduction", expect_warp_reduction<float>, expect_warp_reduction<double>},
          {"MovingAverage", expect_moving_average<float>, expect_moving_average<double>},
          {"Histogram", expect_histogram<float>, expect_histogram<double>},
          {"TwoStreams", expect_two_streams<float>, expect_two_streams<double>},
          {"CapturedGraph", expect_captured_graph<float>, expect_captured_graph<double>},
          {"CooperativeSum", expect_cooperative_sum<float>, expect_cooperative_sum<double>}};
}

std::ostream& operator<<(std::ostream& out, const Kernel& kernel) {
  return out << kernel.name;
}

// ------------------------------------------------------------------------------------------- tests

class TeachingKernels : public testing::TestWithParam<Kernel> {};

/// At sizes that fill no block, and some that fill one.
void expect_serial_results(const Kernel& kernel) {
  Data data(7);
  for (const int n : {1, 31, 32, 97, 256, 1031}) {
    SCOPED_TRACE(n);
    kernel.in_float(data, n);
    kernel.in_double(data, n);
  }
  wait_for_all();
}

TEST_P(TeachingKernels, GiveTheSerialResults) {
  if (const std::string why = obstacle(); !why.empty()) GTEST_SKIP() << "no GPU: " << why;
  expect_serial_results(GetParam());
}

std::string name_of(const testing::TestParamInfo<Kernel>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(All, TeachingKernels, testing::ValuesIn(kernels()), name_of);

#ifdef CUDA_ON_CPU

namespace runtime = cuda_on_cpu;

/// Puts the settings back as they were.
class SettingsGuard {
 public:
  SettingsGuard() : before_(runtime::settings()) {}
  ~SettingsGuard() { runtime::settings() = before_; }
  SettingsGuard(const SettingsGuard&) = delete;
  SettingsGuard& operator=(const SettingsGuard&) = delete;

 private:
  runtime::Settings before_;
};

TEST_P(TeachingKernels, DoNotDependOnTheOrderOfThreads) {
  const SettingsGuard guard;
  runtime::settings().thread_order = runtime::ThreadOrder::reverse;
  expect_serial_results(GetParam());
  runtime::settings().thread_order = runtime::ThreadOrder::random;
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    runtime::settings().seed = seed;
    expect_serial_results(GetParam());
  }
}

TEST_P(TeachingKernels, WaitWhereTheyMust) {
  const SettingsGuard guard;
  runtime::settings().lazy_streams = true;
  expect_serial_results(GetParam());
}

TEST(TeachingKernelsTogether, RaiseNoReportInAThousandRandomLaunches) {
  const SettingsGuard guard;
  const std::vector<Kernel> all = kernels();
  constexpr std::uint64_t wanted = 1000;
  const std::uint64_t before = runtime::counters().launches;
  Data data(11);
  testing::internal::CaptureStderr();
  while (runtime::counters().launches < before + wanted && !testing::Test::HasFailure()) {
    const Kernel& kernel =
        all[static_cast<std::size_t>(data.number(0, static_cast<int>(all.size()) - 1))];
    runtime::settings().thread_order = static_cast<runtime::ThreadOrder>(data.number(0, 2));
    runtime::settings().seed = static_cast<std::uint64_t>(data.number(0, 1 << 20));
    const int n = data.number(1, 700);
    SCOPED_TRACE(kernel.name + " of " + std::to_string(n));
    (data.number(0, 1) == 0 ? kernel.in_float : kernel.in_double)(data, n);
  }
  wait_for_all();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

#endif

}  // namespace
}  // namespace teaching
