/// @file
/// Stage 02 trains what stage 01 trains, and what PyTorch trained.

#include "02_naive_cuda/naive_cuda_backend.hpp"
#include "02_naive_cuda/per_step_memory.hpp"
#include "cross_stage/trainings.hpp"
#include "golden/cnn.hpp"
#include "golden/golden.hpp"

namespace stagewise {
namespace {

struct NaiveCuda {
  template <typename T>
  static std::unique_ptr<Backend<T>> make() {
    return std::make_unique<NaiveCudaBackend<T>>();
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Stage02, Trainings, StageTypes<NaiveCuda>, StageNames);

class Stage02 : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  }
};

TEST_F(Stage02, EqualsPyTorch) {
  NaiveCudaBackend<double> backend;
  for (const std::string& name : golden::case_names()) {
    golden::expect_equals_pytorch(backend, name);
  }
}

TEST_F(Stage02, EqualsPyTorchsCnn) {
  NaiveCudaBackend<double> backend;
  for (const std::string& name : golden::cnn_case_names()) {
    golden::expect_cnn_equals_pytorch(backend, name);
  }
}

/// Where memory comes from changes nothing of what is computed in it.
TEST_F(Stage02, MemoryPerStepGivesTheSameBits) {
  for (const cross_stage::TrainingCase& one : cross_stage::training_cases()) {
    if (one.name != "mlp_sigmoid" && one.name != "neuron") continue;
    NaiveCudaBackend<double> backend;
    const cross_stage::Outcome expected = cross_stage::train_eagerly<double>(backend, one);
    const cross_stage::Outcome actual = cross_stage::train_case<double>(
        backend, one, [&](Network<double>& network) -> std::unique_ptr<Step> {
          return std::make_unique<PerStepMemory<double>>(network, one.model, one.data,
                                                         one.options.sgd);
        });
    ASSERT_EQ(actual.parameters.size(), expected.parameters.size());
    for (std::size_t i = 0; i < expected.parameters.size(); ++i) {
      EXPECT_EQ(actual.parameters[i].values, expected.parameters[i].values) << one.name;
    }
    for (std::size_t i = 0; i < expected.epochs.size(); ++i) {
      EXPECT_EQ(actual.epochs[i].train_loss, expected.epochs[i].train_loss) << one.name;
      EXPECT_EQ(actual.epochs[i].train_accuracy, expected.epochs[i].train_accuracy);
    }
  }
}

}  // namespace
}  // namespace stagewise
