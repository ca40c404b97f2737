/// @file
/// Stage 03 trains what stages 01 and 02 train, and what PyTorch trained, in each of its variants.

#include <optional>

#include "cross_stage/trainings.hpp"
#include "golden/cnn.hpp"
#include "golden/golden.hpp"
#include "ladders/gemm/gemm.hpp"
#include "reports/003/fold_bias/fold_bias_executor.hpp"

namespace stagewise {
namespace {

using shared_memory::ConvolutionVariant;
using shared_memory::FoldBias;

struct SharedMemory {
  template <typename T>
  static std::unique_ptr<Executor<T>> make() {
    return std::make_unique<SharedMemoryExecutor<T>>();
  }
};

const int stage03_trainings = register_trainings<SharedMemory>("Stage03");

class Stage03 : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  }

  /// Expects the cases whose name begins like this to train as on stage 02.
  /// @param fold_bias how layers are folded; not at all without.
  template <typename T>
  static void expect_stage_02(const SharedMemoryOptions& options, const std::string& beginning,
                              std::optional<FoldBias> fold_bias = {}) {
    const auto make_executor = [&]() -> std::unique_ptr<Executor<T>> {
      if (!fold_bias)
        return std::make_unique<SharedMemoryExecutor<T>>(options, ladder::gemm_ladder<T>());
      return std::make_unique<FoldBiasExecutor<T>>(options, *fold_bias);
    };
    int cases = 0;
    for (const cross_stage::TrainingCase& one : cross_stage::training_cases()) {
      if (!one.name.starts_with(beginning)) continue;
      ++cases;
      cross_stage::expect_same_outcome<T>(
          cross_stage::train_program<T>(make_executor(), one,
                                        fold_bias ? shared_memory::fold_biases : unchanged),
          cross_stage::train_program<T>(std::make_unique<NaiveCudaExecutor<T>>(), one), one.name);
    }
    EXPECT_GT(cases, 0) << beginning;
  }
};

TEST_F(Stage03, EqualsStage02) {
  expect_stage_02<float>({}, "");
  expect_stage_02<double>({}, "");
}

TEST_F(Stage03, AFoldedBiasGivesTheSameNumbers) {
  for (const FoldBias fold : {FoldBias::in_place, FoldBias::out_of_place}) {
    expect_stage_02<float>({}, "mlp", fold);
    expect_stage_02<double>({}, "", fold);
  }
}

TEST_F(Stage03, EveryFormOfConvolutionTrainsTheSame) {
  for (const ConvolutionVariant variant :
       {ConvolutionVariant::direct, ConvolutionVariant::implicit}) {
    expect_stage_02<double>({.convolution = variant}, "cnn");
  }
}

/// Report 004's comparison: the reductions, and its products by reductions, inside a training.
TEST_F(Stage03, EveryReductionTrainsTheSame) {
  for (const auto& rung : shared_memory::column_sums_ladder<double>()) {
    expect_stage_02<double>({.reduce = std::string(rung.name)}, "mlp_squared_error");
    expect_stage_02<double>({.reduce = std::string(rung.name)}, "neuron");
  }
}

TEST_F(Stage03, EveryProductTrainsTheSame) {
  for (const auto& rung : ladder::gemm_ladder<double>()) {
    if (!rung.supports({})) continue;
    expect_stage_02<double>({.gemm = std::string(rung.name)}, "mlp_squared_error");
  }
}

TEST_F(Stage03, EqualsPyTorch) {
  for (const std::string& name : golden::case_names()) {
    golden::expect_equals_pytorch(std::make_unique<SharedMemoryExecutor<double>>(), name);
  }
}

TEST_F(Stage03, EqualsPyTorchsCnn) {
  for (const std::string& name : golden::cnn_case_names()) {
    golden::expect_cnn_equals_pytorch(std::make_unique<SharedMemoryExecutor<double>>(), name);
  }
}

}  // namespace
}  // namespace stagewise
