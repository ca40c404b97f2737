/// @file
/// Every rung of stage 03's reduction ladder against stage 01.

#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "01_serial/loss.hpp"
#include "01_serial/reduce.hpp"
#include "03_shared_memory/kernels.hpp"
#include "cross_stage/cuda_array.hpp"
#include "cross_stage/gpu_test.hpp"
#include "cross_stage/shapes.hpp"
#include "ladders/reduce/reduce.hpp"
#include "ladders/reduce/serial.hpp"
#include "support.hpp"

namespace stagewise {
namespace {

using namespace shared_memory;
using cross_stage::Size;

/// Small numbers as often as large ones: from 1 to `most`.
Index random_length(Random& random, Index most) {
  return static_cast<Index>(std::exp(random.uniform(0, std::log(static_cast<double>(most + 1)))));
}

/// Around warps and blocks, in and out of the last pass; then any.
std::vector<Index> lengths(std::uint64_t seed) {
  std::vector<Index> all = {0,    1,    2,    3,      5,      31,     32,     33,     63,     64,   65,
                            127,  128,  255,  256,    257,    511,    512,    513,    1009,   1023, 1025,
                            2047, 4095, 4097, 16'383, 16'385, 65'535, 65'537, 66'000, 140'003};
  Random random(seed);
  for (int i = 0; i < shapes_per_rung(); ++i) all.push_back(random_length(random, 66'000));
  std::erase_if(all, is_too_large);
  return all;
}

template <typename T>
class Reductions : public GpuTest {
 protected:
  /// Whoever counts in the workspace, or leaves sums in its slots, has cleaned up.
  static void expect_zeros(Workspace& workspace) {
    std::vector<unsigned> counters(Workspace::counter_count, 1U);
    CUDA_CHECK(
        cudaMemcpy(counters.data(), workspace.counters(), counters.size() * sizeof(unsigned), cudaMemcpyDeviceToHost));
    for (const unsigned counter : counters) ASSERT_EQ(counter, 0U);
  }

  /// A rung's sum of x [rows, cols], and the sums of its columns.
  static std::vector<T> sums_by(std::size_t rung, Index rows, Index cols, CudaArray<T>& x, Workspace& workspace) {
    CudaArray out(poison<T>(1 + cols));
    sum_ladder<T>()[rung].run(nullptr, {.n = rows * cols, .x = x.get(), .out = out.get()}, workspace);
    column_sums_ladder<T>()[rung].run(nullptr, {.rows = rows, .cols = cols, .x = x.get(), .out = out.get() + 1},
                                      workspace);
    return out.read();
  }

  static constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  static constexpr T infinity = std::numeric_limits<T>::infinity();
};

TYPED_TEST_SUITE(Reductions, Precisions, PrecisionNames);

/// The array begins at any multiple of its elements' size, between NaNs. The trees round less than
/// stage 01's one long run of doubles, so that the tighter bound is that of a wider sum.
TYPED_TEST(Reductions, Sum) {
  using T = TypeParam;
  Workspace workspace;
  Random random(1);
  for (const Index n : lengths(2)) {
    const std::vector<T> x = random_values<T>(n, static_cast<std::uint64_t>(n), 0.1, 3);
    std::vector<T> expected = {0, this->nan};
    serial::sum(n, x.data(), expected.data());
    const auto exact = static_cast<T>(std::accumulate(x.begin(), x.end(), 0.0L));
    // Stage 01 adds up in double, whatever the precision.
    const double roundings = std::is_same_v<T, float> ? 1 : 8 + std::sqrt(static_cast<double>(n));
    expect_within_units("serial::sum", roundings, expected, {exact, this->nan});
    const auto offset = static_cast<Index>(random.below(4));
    std::vector<T> surrounded = poison<T>(offset + n + 5);
    std::copy(x.begin(), x.end(), surrounded.begin() + offset);
    CudaArray there(surrounded);
    for (const auto& rung : sum_ladder<T>()) {
      CudaArray out(poison<T>(2));
      const SumProblem<T> problem = {.n = n, .x = there.get() + offset, .out = out.get()};
      ASSERT_EQ(rung.supports(problem).reason, "");
      rung.run(nullptr, problem, workspace);
      const std::string what = std::string(rung.name) + ", " + std::to_string(n) + " from " + std::to_string(offset);
      const std::vector<T> actual = out.read();
      expect_within_units(what, 4 + std::sqrt(static_cast<double>(n)), actual, expected);
      expect_within_units(what, 4, actual, {exact, this->nan});
      if (this->HasFatalFailure()) return;
    }
    if (n > 1025) continue;
    CudaArray out(poison<T>(2));
    naive_cuda::sum(nullptr, n, there.get() + offset, out.get());
    expect_within_units("one thread, " + std::to_string(n), 4, out.read(), expected);
  }
  this->expect_zeros(workspace);
}

TYPED_TEST(Reductions, ColumnSums) {
  using T = TypeParam;
  Workspace workspace;
  std::vector<Size> sizes = {{1, 1},     {1, 7},      {7, 1},    {3, 5},     {13, 17},  {31, 33},  {32, 32},
                             {33, 31},   {64, 32},    {5, 1031}, {257, 3},   {1, 256},  {127, 65}, {129, 10},
                             {1025, 10}, {10'007, 3}, {0, 3},    {3, 0},     {255, 40}, {256, 4},  {384, 33},
                             {2, 2100},  {66'000, 1}, {2049, 8}, {2100, 36}, {4500, 7}};
  Random random(3);
  for (int i = 0; i < shapes_per_rung(); ++i) {
    sizes.push_back({random_length(random, 2000), random_length(random, 150)});
  }
  for (const auto [rows, cols] : sizes) {
    if (is_too_large(rows * cols)) continue;
    std::vector<T> x = random_values<T>(rows * cols, static_cast<std::uint64_t>(rows), -1, 3);
    std::vector<T> expected = poison<T>(cols + 1);
    serial::column_sums(rows, cols, x.data(), expected.data());
    x.push_back(this->nan);
    CudaArray there(x);
    for (const auto& rung : column_sums_ladder<T>()) {
      CudaArray out(poison<T>(cols + 1));
      const ColumnSumsProblem<T> problem = {.rows = rows, .cols = cols, .x = there.get(), .out = out.get()};
      ASSERT_EQ(rung.supports(problem).reason, "");
      rung.run(nullptr, problem, workspace);
      expect_within_units(std::string(rung.name) + ", " + std::to_string(rows) + "x" + std::to_string(cols),
                          4 + 2 * std::sqrt(static_cast<double>(rows)), out.read(), expected);
      if (this->HasFatalFailure()) return;
    }
  }
  this->expect_zeros(workspace);
}

/// Three batches, of which the second and the third may have a loss that is no number, at any row.
TYPED_TEST(Reductions, Accumulate) {
  using T = TypeParam;
  Random random(4);
  for (const Index rows : lengths(5)) {
    const auto seed = static_cast<std::uint64_t>(rows);
    std::vector<T> losses = random_values<T>(rows, seed, 0, 5);
    std::vector<std::int32_t> labels = random_labels(rows, 3, seed + 1);
    std::vector<std::int32_t> predictions = random_labels(rows, 3, seed + 2);
    labels.push_back(1);
    predictions.push_back(1);  // would count as right
    std::vector<T> bad_losses = losses;
    const bool bad = rows > 0 && random.below(2) == 0;
    if (bad) {
      bad_losses[random.below(bad_losses.size())] = random.below(2) == 0 ? this->nan : this->infinity;
    }
    losses.push_back(this->nan);
    bad_losses.push_back(this->nan);
    CudaArray there(losses);
    CudaArray bad_there(bad_losses);
    CudaArray labels_there(labels);
    CudaArray predictions_there(predictions);
    Totals expected;
    for (std::int64_t step = 1; step <= 3; ++step) {
      serial::accumulate(rows, step, (step >= 2 ? bad_losses : losses).data(), predictions.data(), labels.data(),
                         &expected);
    }
    ASSERT_EQ(expected.first_bad_step, bad ? 2 : -1);
    for (const auto& rung : column_sums_ladder<T>()) {
      CudaArray totals(std::vector<Totals>(1));
      for (std::int64_t step = 1; step <= 3; ++step) {
        accumulate<T>(nullptr, rung.name,
                      {.rows = rows,
                       .row_losses = (step >= 2 ? bad_there : there).get(),
                       .predictions = predictions_there.get(),
                       .labels = labels_there.get(),
                       .step = step,
                       .totals = totals.get()});
      }
      const Totals actual = totals.read().front();
      const std::string what = std::string(rung.name) + ", " + std::to_string(rows) + " rows";
      ASSERT_EQ(actual.correct, expected.correct) << what;
      ASSERT_EQ(actual.first_bad_step, expected.first_bad_step) << what;
      // Both add doubles; stage 01 in one long run, whose rounding grows with the rows.
      expect_within_units<double>(what, 4 + std::sqrt(static_cast<double>(rows)), {actual.loss}, {expected.loss});
      if (this->HasFatalFailure()) return;
    }
  }
}

/// Also when blocks finish in another order than the last time; and each with the workspace as the
/// others have left it.
TYPED_TEST(Reductions, RepeatThemselvesBitForBit) {
  using T = TypeParam;
  Workspace workspace;
  constexpr Index cols = 3;
  const Index rows = is_too_large(22'000 * cols) ? 2100 : 22'000;
  CudaArray x(random_values<T>(rows * cols, 1, -1, 3));
  for (std::size_t rung = 0; rung < sum_ladder<T>().size(); ++rung) {
    const auto run = [&] { return this->sums_by(rung, rows, cols, x, workspace); };
    const std::vector<T> first = run();
    for (int i = 0; i < 3; ++i) ASSERT_EQ(run(), first) << sum_ladder<T>()[rung].name;
  }
  this->expect_zeros(workspace);
}

/// A partial sum of 0 must not look like one that is not there yet; nor may 0 become -0.
TYPED_TEST(Reductions, PartialSumsOfZero) {
  using T = TypeParam;
  Workspace workspace;
  for (const T zero : {T{0}, -T{0}}) {
    const Index rows = is_too_large(Index{3} * 5000) ? 2100 : 5000;
    CudaArray x(std::vector<T>(static_cast<std::size_t>(3 * rows), zero));
    for (std::size_t rung = 0; rung < sum_ladder<T>().size(); ++rung) {
      for (const T value : this->sums_by(rung, rows, 3, x, workspace)) {
        EXPECT_EQ(value, 0) << sum_ladder<T>()[rung].name;
        EXPECT_TRUE(std::signbit(zero) || !std::signbit(value)) << sum_ladder<T>()[rung].name;
      }
    }
  }
  this->expect_zeros(workspace);
}

TYPED_TEST(Reductions, SumSaysWhatTheWorkspaceHasNoRoomFor) {
  using T = TypeParam;
  const auto ladder = sum_ladder<T>();
  const SumProblem<T> huge = {.n = Index{1} << 40};
  const SumProblem<T> large = {.n = Workspace::capacity<T>() * 128};
  for (const auto& rung : ladder.first(6)) {
    expect_contains(rung.supports(huge).reason, "partial sums");
    EXPECT_EQ(rung.supports(large).reason, "") << rung.name;
  }
  for (const auto& rung : ladder.last(4)) EXPECT_EQ(rung.supports(huge).reason, "") << rung.name;
}

TYPED_TEST(Reductions, BothLaddersHaveTheSameRungs) {
  using T = TypeParam;
  ASSERT_EQ(column_sums_ladder<T>().size(), sum_ladder<T>().size());
  for (std::size_t i = 0; i < sum_ladder<T>().size(); ++i) {
    EXPECT_EQ(column_sums_ladder<T>()[i].name, sum_ladder<T>()[i].name);
  }
  // The last one pays only behind kernels that allow it.
  EXPECT_EQ(sum_ladder<T>()[sum_ladder<T>().size() - 2].name, default_reduce_rung);
}

}  // namespace
}  // namespace stagewise
