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

#include "01_serial/serial_backend.hpp"
#include "golden/cnn.hpp"
#include "golden/golden.hpp"
#include "golden/workers.hpp"

namespace stagewise {
namespace {

using golden::bound;
using golden::load;

/// Every form of GEMM on every training.
class Golden : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(Golden, EqualsPyTorch) {
  const auto& [gemm_form, case_name] = GetParam();
  SerialBackend<double> backend(serial::parse_gemm_form(gemm_form));
  golden::expect_equals_pytorch(backend, case_name);
}

INSTANTIATE_TEST_SUITE_P(Serial, Golden,
                         testing::Combine(testing::ValuesIn(serial::gemm_form_names()),
                                          testing::ValuesIn(golden::case_names())),
                         [](const auto& test) {
                           return std::get<0>(test.param) + "_" + std::get<1>(test.param);
                         });

class GoldenCnn : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(GoldenCnn, EqualsPyTorch) {
  const auto& [gemm_form, case_name] = GetParam();
  SerialBackend<double> backend(serial::parse_gemm_form(gemm_form));
  golden::expect_cnn_equals_pytorch(backend, case_name);
}

INSTANTIATE_TEST_SUITE_P(Serial, GoldenCnn,
                         testing::Combine(testing::ValuesIn(serial::gemm_form_names()),
                                          testing::ValuesIn(golden::cnn_case_names())),
                         [](const auto& test) {
                           return std::get<0>(test.param) + "_" + std::get<1>(test.param);
                         });

TEST(GoldenWorkers, EqualPyTorch) {
  SerialBackend<double> backend;
  golden::expect_workers_equal_pytorch(
      backend, [](Network<double>& network, const golden::Case& file, const WorkerOptions& workers,
                  const auto& starts) {
        return std::make_unique<WorkerStep<double>>(network, file.data, file.options.sgd, workers,
                                                    starts, 0);
      });
}

// -------------------------------------------------------------------------- tests of the test

/// Stage 01 with one of the mistakes that an implementer of a stage makes.
class Sabotaged final : public SerialBackend<double> {
 public:
  enum class Mistake : std::uint8_t {
    none,
    no_l2,
    sum_instead_of_mean,
    short_bias_gradient,
    bad_relu
  };

  explicit Sabotaged(Mistake mistake) : mistake_(mistake) {}

  void sgd_update(Index n, double learning_rate, double l2, const double* gradient,
                  double* parameter) override {
    SerialBackend::sgd_update(n, learning_rate, mistake_ == Mistake::no_l2 ? 0 : l2, gradient,
                              parameter);
  }
  void softmax_cross_entropy_backward(Index rows, Index cols, const double* probabilities,
                                      const std::int32_t* labels, double* dlogits) override {
    SerialBackend::softmax_cross_entropy_backward(rows, cols, probabilities, labels, dlogits);
    if (mistake_ != Mistake::sum_instead_of_mean) return;
    for (Index i = 0; i < rows * cols; ++i) dlogits[i] *= static_cast<double>(rows);
  }
  void sum_rows(Index rows, Index cols, const double* x, double* out) override {
    // Forgets the batch's last row.
    SerialBackend::sum_rows(mistake_ == Mistake::short_bias_gradient ? rows - 1 : rows, cols, x,
                            out);
  }
  void relu_backward(Index n, const double* y, const double* dy, double* dx) override {
    SerialBackend::relu_backward(n, y, dy, dx);
    if (mistake_ == Mistake::bad_relu) dx[n - 1] = dy[n - 1] + 1e-6;
  }

 private:
  Mistake mistake_;
};

double distance_with(Sabotaged::Mistake mistake) {
  const golden::Case expected = load("relu_cross_entropy_l2");
  Sabotaged backend(mistake);
  return golden::distance(golden::train_on(backend, expected), expected);
}

TEST(GoldenTest, NoticesMistakes) {
  EXPECT_LE(distance_with(Sabotaged::Mistake::none), bound);
  EXPECT_GT(distance_with(Sabotaged::Mistake::no_l2), 1e-4);
  EXPECT_GT(distance_with(Sabotaged::Mistake::sum_instead_of_mean), 1e-2);
  EXPECT_GT(distance_with(Sabotaged::Mistake::short_bias_gradient), 1e-3);
  EXPECT_GT(distance_with(Sabotaged::Mistake::bad_relu), 1e-9);
}

/// Stage 01 with mistakes that only images bring to light.
class SabotagedImages final : public SerialBackend<double> {
 public:
  enum class Mistake : std::uint8_t { none, shifted_input_gradient, filter_element, pool_sum };

  explicit SabotagedImages(Mistake mistake) : mistake_(mistake) {}

  void convolution_backward(const ConvolutionProblem& p, const double* input, const double* filter,
                            const double* doutput, double* dinput, double* dfilter) override {
    SerialBackend::convolution_backward(p, input, filter, doutput, dinput, dfilter);
    if (mistake_ == Mistake::filter_element) dfilter[77] += 1e-6;  // one of up to 51,200
    if (mistake_ != Mistake::shifted_input_gradient || dinput == nullptr) return;
    std::rotate(dinput, dinput + p.in, dinput + p.batch * p.height * p.width * p.in);
  }
  void average_pool(const PoolingProblem& p, const double* input, double* output) override {
    SerialBackend::average_pool(p, input, output);
    if (mistake_ != Mistake::pool_sum) return;
    for (Index i = 0; i < p.output_elements(); ++i) output[i] *= 4;
  }

 private:
  Mistake mistake_;
};

TEST(GoldenTest, NoticesMistakesWithImages) {
  using Mistake = SabotagedImages::Mistake;
  for (const std::string& name : golden::cnn_case_names()) {
    const golden::CnnCase golden_case(name);
    const auto distance_with = [&](Mistake mistake) {
      SabotagedImages backend(mistake);
      return golden::distance(golden_case.train_on(backend), golden_case.expected());
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
    SerialBackend<double> backend;
    EXPECT_GT(golden::distance(golden::train_on(backend, changed), original), 1e-9) << name;
  }
}

TEST(GoldenTest, NaNIsNeverClose) {
  const golden::Case expected = load("neuron");
  SerialBackend<double> backend;
  golden::Outcome outcome = golden::train_on(backend, expected);
  outcome.losses.front() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(golden::distance(outcome, expected) <= bound);

  outcome = golden::train_on(backend, expected);
  outcome.parameters.front().values.front() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(golden::distance(outcome, expected) <= bound);

  outcome = golden::train_on(backend, expected);
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
