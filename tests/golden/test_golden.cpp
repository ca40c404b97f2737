/// @file
/// Stage 01 in double computes what PyTorch computes, to rounding.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "01_serial/reduce.hpp"
#include "01_serial/serial_executor.hpp"
#include "golden/cnn.hpp"
#include "golden/golden.hpp"
#include "golden/workers.hpp"

namespace stagewise {
namespace {

using golden::bound;
using golden::load;

std::unique_ptr<Executor<double>> serial_executor(const std::string& gemm_variant = "reordered") {
  return std::make_unique<SerialExecutor<double>>(serial::parse_gemm_variant(gemm_variant));
}

/// Every form of GEMM on every training.
class Golden : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(Golden, EqualsPyTorch) {
  const auto& [gemm_variant, case_name] = GetParam();
  golden::expect_equals_pytorch(serial_executor(gemm_variant), case_name);
}

INSTANTIATE_TEST_SUITE_P(Serial, Golden,
                         testing::Combine(testing::ValuesIn(serial::gemm_variant_names()),
                                          testing::ValuesIn(golden::case_names())),
                         [](const auto& test) {
                           return std::get<0>(test.param) + "_" + std::get<1>(test.param);
                         });

class GoldenCnn : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(GoldenCnn, EqualsPyTorch) {
  const auto& [gemm_variant, case_name] = GetParam();
  golden::expect_cnn_equals_pytorch(serial_executor(gemm_variant), case_name);
}

INSTANTIATE_TEST_SUITE_P(Serial, GoldenCnn,
                         testing::Combine(testing::ValuesIn(serial::gemm_variant_names()),
                                          testing::ValuesIn(golden::cnn_case_names())),
                         [](const auto& test) {
                           return std::get<0>(test.param) + "_" + std::get<1>(test.param);
                         });

TEST(GoldenWorkers, EqualPyTorch) {
  for (const std::string& name : golden::worker_case_names) {
    golden::expect_workers_equal_pytorch(serial_executor(), name,
                                         [](Network<double>& network, const golden::Case& file,
                                            const WorkerOptions& workers, const Starts& starts) {
                                           return make_program_step(network, file.data,
                                                                    file.options, starts, workers);
                                         });
  }
}

// -------------------------------------------------------------------------- tests of the test

enum class Mistake : std::uint8_t {
  none,
  no_l2,
  sum_instead_of_mean,
  short_bias_gradient,
  bad_relu,
  shifted_input_gradient,
  filter_element,
  pool_sum
};

/// Stage 01 with one of the mistakes that an implementer of a stage makes.
class Sabotaged final : public SerialExecutor<double> {
 public:
  explicit Sabotaged(Mistake mistake) : mistake_(mistake) {}

  using SerialExecutor::run;

  void run(const SgdUpdate& op) {
    SgdUpdate update = op;
    if (mistake_ == Mistake::no_l2) update.l2 = 0;
    SerialExecutor::run(update);
  }
  void run(const SoftmaxCrossEntropyBackward& op) {
    SerialExecutor::run(op);
    if (mistake_ != Mistake::sum_instead_of_mean) return;
    for (Index i = 0; i < elements(op.dlogits); ++i) {
      at(op.dlogits)[i] *= static_cast<double>(batch().rows);
    }
  }
  void run(const ColumnSums& op) {
    // Forgets the batch's last row.
    const bool is_short = mistake_ == Mistake::short_bias_gradient;
    const Index cols = columns(op.y);
    serial::column_sums(elements(op.x) / cols - (is_short ? 1 : 0), cols, at(op.x), at(op.y));
  }
  void run(const ReluBackward& op) {
    const Index last = elements(op.dy) - 1;
    const double dy = at(op.dy)[last];  // dx is in the same memory
    SerialExecutor::run(op);
    if (mistake_ == Mistake::bad_relu) at(op.dx)[last] = dy + 1e-6;
  }
  void run(const ConvolutionBackward& op) {
    SerialExecutor::run(op);
    if (mistake_ == Mistake::filter_element) at(op.dfilter)[77] += 1e-6;  // one of up to 51,200
    if (mistake_ != Mistake::shifted_input_gradient || !op.dinput) return;
    const Index channels = value(op.dinput).shape[2];
    std::rotate(at(op.dinput), at(op.dinput) + channels, at(op.dinput) + elements(op.dinput));
  }
  void run(const AveragePool& op) {
    SerialExecutor::run(op);
    if (mistake_ != Mistake::pool_sum) return;
    for (Index i = 0; i < elements(op.output); ++i) at(op.output)[i] *= 4;
  }

 private:
  void run(const Line& line) override { run_operation(*this, line.operation, line.replaces); }

  Mistake mistake_;
};

double distance_with(Mistake mistake) {
  const golden::Case expected = load("relu_cross_entropy_l2");
  return golden::distance(golden::train_on(std::make_unique<Sabotaged>(mistake), expected),
                          expected);
}

TEST(GoldenTest, NoticesMistakes) {
  EXPECT_LE(distance_with(Mistake::none), bound);
  EXPECT_GT(distance_with(Mistake::no_l2), 1e-4);
  EXPECT_GT(distance_with(Mistake::sum_instead_of_mean), 1e-2);
  EXPECT_GT(distance_with(Mistake::short_bias_gradient), 1e-3);
  EXPECT_GT(distance_with(Mistake::bad_relu), 1e-9);
}

/// Those that only images bring to light.
TEST(GoldenTest, NoticesMistakesWithImages) {
  for (const std::string& name : golden::cnn_case_names()) {
    const golden::CnnCase golden_case(name);
    const auto distance_with = [&](Mistake mistake) {
      return golden::distance(golden_case.train_on(std::make_unique<Sabotaged>(mistake)),
                              golden_case.expected());
    };
    EXPECT_LE(distance_with(Mistake::none), bound);
    EXPECT_GT(distance_with(Mistake::shifted_input_gradient), 1e-3);
    EXPECT_GT(distance_with(Mistake::filter_element), 1e-9);
    EXPECT_GT(distance_with(Mistake::pool_sum), 1e-2);
  }
}

TEST(GoldenTest, NaNIsNeverCloseInASummary) {
  const golden::CnnCase golden_case("cnn_with_biases");
  const golden::Summaries& expected = golden_case.expected();
  EXPECT_EQ(golden::distance(expected, expected), 0);
  for (const auto& [name, values] : expected) {
    golden::Summaries broken = expected;
    broken[name].back() = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(golden::distance(broken, expected) <= bound) << name;
    broken.erase(name);
    EXPECT_FALSE(golden::distance(broken, expected) <= bound) << name;
    ASSERT_FALSE(values.empty());
    EXPECT_GT(values.front(), 1e-3) << "nothing is compared of " << name;
  }
}

TEST(GoldenTest, NoticesAnotherStart) {
  for (const std::string& name : golden::case_names()) {
    golden::Case changed = load(name);
    const golden::Case original = load(name);
    changed.initial.back().values.back() += 1e-7;
    EXPECT_GT(golden::distance(golden::train_on(serial_executor(), changed), original), 1e-9)
        << name;
  }
}

TEST(GoldenTest, NaNIsNeverClose) {
  const golden::Case expected = load("neuron");
  golden::Outcome outcome = golden::train_on(serial_executor(), expected);
  outcome.losses.front() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(golden::distance(outcome, expected) <= bound);

  outcome = golden::train_on(serial_executor(), expected);
  outcome.parameters.front().values.front() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(golden::distance(outcome, expected) <= bound);

  outcome = golden::train_on(serial_executor(), expected);
  outcome.losses.pop_back();
  EXPECT_FALSE(golden::distance(outcome, expected) <= bound);
}

/// A file in which training changes next to nothing would prove next to nothing.
TEST(GoldenTest, EveryTrainingChangesEveryParameter) {
  for (const std::string& name : golden::case_names()) {
    const golden::Case golden_case = load(name);
    for (const Difference& difference :
         compare_parameters(golden_case.initial, golden_case.expected)) {
      EXPECT_GT(difference.max_norm, 1e-2) << name << ": " << difference.name;
    }
  }
}

}  // namespace
}  // namespace stagewise
