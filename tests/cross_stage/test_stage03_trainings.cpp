/// @file
/// Stage 03 trains what stages 01 and 02 train, and what PyTorch trained.

#include "03_shared_memory/shared_memory_executor.hpp"
#include "cross_stage/trainings.hpp"
#include "golden/cnn.hpp"
#include "golden/golden.hpp"

namespace stagewise {
namespace {

using shared_memory::ConvolutionVariant;

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

  template <typename T>
  static void expect_stage_02(const SharedMemoryOptions& options, const std::string& beginning) {
    cross_stage::expect_stage_02<T>(
        [&] { return std::make_unique<SharedMemoryExecutor<T>>(options); }, beginning);
  }
};

TEST_F(Stage03, EqualsStage02) {
  expect_stage_02<float>({}, "");
  expect_stage_02<double>({}, "");
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
  for (const auto& rung : shared_memory::gemm_ladder<double>()) {
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
