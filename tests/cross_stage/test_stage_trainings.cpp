/// @file
/// Stages 02, 03 and 04 train line by line what stage 01 trains; stage 04 with nothing fused and
/// nothing recorded.

#include "02_naive_cuda/naive_cuda_executor.hpp"
#include "03_shared_memory/shared_memory_executor.hpp"
#include "04_minibatch/minibatch_executor.hpp"
#include "cross_stage/gpu_test.hpp"
#include "cross_stage/trainings.hpp"
#include "reports/000/per_step_memory/per_step_memory.hpp"
#include "support.hpp"

namespace stagewise {
namespace {

using namespace cross_stage;

template <typename Stage>
struct ScalarOf;
template <template <typename> class Stage, typename T>
struct ScalarOf<Stage<T>> {
  using Type = T;
};

/// "float" and "double".
struct NamesOfStages {
  template <typename Stage>
  static std::string GetName(int index) {  // NOLINT(*-naming): GoogleTest wants this name
    return PrecisionNames::GetName<typename ScalarOf<Stage>::Type>(index);
  }
};

/// @tparam Stage its executor.
template <typename Stage>
class Trainings : public GpuTest {
 protected:
  using Scalar = typename ScalarOf<Stage>::Type;

  static Outcome run(const TrainingCase& one) {
    return train_program<Scalar>(std::make_unique<Stage>(), one);
  }
};
TYPED_TEST_SUITE_P(Trainings);

TYPED_TEST_P(Trainings, EqualThoseOfStage01) {
  using T = typename TestFixture::Scalar;
  for (const TrainingCase& one : training_cases()) {
    expect_same_outcome<T>(this->run(one), train_serially<T>(one), one.name);
  }
}

TYPED_TEST_P(Trainings, RepeatThemselvesBitForBit) {
  for (const TrainingCase& one : training_cases()) {
    if (one.name.ends_with("without_biases")) continue;  // long enough with the other
    expect_same_bits(this->run(one), this->run(one), one.name);
  }
}

REGISTER_TYPED_TEST_SUITE_P(Trainings, EqualThoseOfStage01, RepeatThemselvesBitForBit);

template <template <typename> class Stage>
using InBothPrecisions = testing::Types<Stage<float>, Stage<double>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Stage02, Trainings, InBothPrecisions<NaiveCudaExecutor>,
                               NamesOfStages);
INSTANTIATE_TYPED_TEST_SUITE_P(Stage03, Trainings, InBothPrecisions<SharedMemoryExecutor>,
                               NamesOfStages);

class Stage02 : public GpuTest {};

/// The command line leaves workers to stages 01 and 04; the executor takes their programs all the
/// same, and shards without a sample: of a last batch of 7.
TEST_F(Stage02, WorkersEqualThoseOfStage01) {
  const TrainingCase one = cases_named("mlp_squared_error").front();
  for (const WorkerOptions& workers :
       {WorkerOptions{.workers = 8},
        WorkerOptions{.workers = 8, .average = Average::weights, .average_every = 3}}) {
    expect_same_outcome<double>(
        train_program<double>(std::make_unique<NaiveCudaExecutor<double>>(), one, workers),
        train_serially<double>(one, workers), name_of(workers));
  }
}

/// Where memory comes from changes nothing of what is computed in it.
TEST_F(Stage02, MemoryPerStepGivesTheSameBits) {
  const auto make = [] { return std::make_unique<NaiveCudaExecutor<double>>(); };
  for (const std::string name : {"mlp_sigmoid", "neuron"}) {
    const TrainingCase one = cases_named(name).front();
    const auto make_step = [&](Network<double>& network,
                               const Starts& starts) -> std::unique_ptr<Step> {
      return std::make_unique<PerStepMemory<double>>(network, one.data, one.options.sgd,
                                                     starts.front(), make, one.options.batch_size);
    };
    expect_same_bits(train_case<double>(make(), one, {}, make_step),
                     train_program<double>(make(), one), name);
  }
}

}  // namespace
}  // namespace stagewise
