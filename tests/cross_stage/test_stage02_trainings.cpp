/// @file
/// Stage 02 trains what stage 01 trains, and what PyTorch trained.

#include "02_naive_cuda/naive_cuda_executor.hpp"
#include "cross_stage/worker_trainings.hpp"
#include "golden/cnn.hpp"
#include "golden/golden.hpp"
#include "reports/000/per_step_memory/per_step_memory.hpp"

namespace stagewise {
namespace {

struct NaiveCuda {
  template <typename T>
  static std::unique_ptr<Executor<T>> make() {
    return std::make_unique<NaiveCudaExecutor<T>>();
  }
};

const int stage02_trainings = register_trainings<NaiveCuda>("Stage02");

class Stage02 : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  }
};

TEST_F(Stage02, EqualsPyTorch) {
  for (const std::string& name : golden::case_names()) {
    golden::expect_equals_pytorch(std::make_unique<NaiveCudaExecutor<double>>(), name);
  }
}

TEST_F(Stage02, EqualsPyTorchsCnn) {
  for (const std::string& name : golden::cnn_case_names()) {
    golden::expect_cnn_equals_pytorch(std::make_unique<NaiveCudaExecutor<double>>(), name);
  }
}

/// The command line leaves workers to stages 01 and 04; the executor takes their programs all the
/// same, and shards without a sample: of a last batch of 7.
TEST_F(Stage02, WorkersEqualThoseOfStage01) {
  for (const WorkerOptions& workers :
       {WorkerOptions{.workers = 8},
        WorkerOptions{.workers = 8, .average = Average::weights, .average_every = 3}}) {
    for (const cross_stage::TrainingCase& one : cross_stage::cases_named("mlp_squared_error")) {
      const cross_stage::Arrival actual = cross_stage::train_workers<double>(
          std::make_unique<NaiveCudaExecutor<double>>(), one, workers,
          [&](Network<double>& network, const Starts& starts) {
            return make_program_step(network, one.data, one.options, starts, workers);
          });
      cross_stage::expect_same_arrival<double>(
          actual, cross_stage::train_serially<double>(one, workers), cross_stage::name_of(workers));
    }
  }
}

/// Where memory comes from changes nothing of what is computed in it.
TEST_F(Stage02, MemoryPerStepGivesTheSameBits) {
  for (const cross_stage::TrainingCase& one : cross_stage::training_cases()) {
    if (one.name != "mlp_sigmoid" && one.name != "neuron") continue;
    const auto make = [] { return std::make_unique<NaiveCudaExecutor<double>>(); };
    const cross_stage::Outcome expected = cross_stage::train_program<double>(make(), one);
    const cross_stage::Outcome actual = cross_stage::train_case<double>(
        make(), one, [&](Network<double>& network, const Starts& starts) -> std::unique_ptr<Step> {
          return std::make_unique<PerStepMemory<double>>(
              network, one.data, one.options.sgd, starts.front(), make, one.options.batch_size);
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
