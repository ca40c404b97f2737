/// @file
/// Stages 02 and 03 train line by line what stage 01 trains.

#include "02_naive_cuda/naive_cuda_executor.hpp"
#include "03_shared_memory/shared_memory_executor.hpp"
#include "cross_stage/gpu_test.hpp"
#include "cross_stage/trainings.hpp"
#include "reports/000/per_step_memory/per_step_memory.hpp"
#include "support.hpp"

namespace stagewise {
namespace {

using namespace cross_stage;

template <typename T>
class Trainings : public GpuTest {};
TYPED_TEST_SUITE(Trainings, Precisions, PrecisionNames);

/// And repeats itself bit for bit.
/// @tparam Stage its executor.
template <template <typename> typename Stage, typename T>
void expect_trains_as_stage_01() {
  for (const TrainingCase& one : training_cases()) {
    const auto train = [&] { return train_program<T>(std::make_unique<Stage<T>>(), one); };
    const Outcome outcome = train();
    expect_same_outcome<T>(outcome, train_serially<T>(one), one.name);
    if (one.name.ends_with("without_biases")) continue;  // long enough with the other
    expect_same_bits(train(), outcome, one.name);
  }
}

TYPED_TEST(Trainings, OfStage02EqualThoseOfStage01) { expect_trains_as_stage_01<NaiveCudaExecutor, TypeParam>(); }

TYPED_TEST(Trainings, OfStage03EqualThoseOfStage01) { expect_trains_as_stage_01<SharedMemoryExecutor, TypeParam>(); }

class Stage02 : public GpuTest {};

/// The command line leaves workers to stages 01 and 04; the executor takes their programs all the
/// same, and shards without a sample: of a last batch of 7.
TEST_F(Stage02, WorkersEqualThoseOfStage01) {
  const TrainingCase one = cases_named("mlp_squared_error").front();
  for (const WorkerOptions& workers :
       {WorkerOptions{.workers = 8}, WorkerOptions{.workers = 8, .average = Average::weights, .average_every = 3}}) {
    expect_same_outcome<double>(train_program<double>(std::make_unique<NaiveCudaExecutor<double>>(), one, workers),
                                train_serially<double>(one, workers), name_of(workers));
  }
}

/// Where memory comes from changes nothing of what is computed in it.
TEST_F(Stage02, MemoryPerStepGivesTheSameBits) {
  const auto make = [] { return std::make_unique<NaiveCudaExecutor<double>>(); };
  for (const std::string name : {"mlp_sigmoid", "neuron"}) {
    const TrainingCase one = cases_named(name).front();
    const auto make_step = [&](Network<double>& network, const Starts& starts) -> std::unique_ptr<Step> {
      return std::make_unique<PerStepMemory<double>>(network, one.data, one.options.sgd, starts.front(), make,
                                                     one.options.batch_size);
    };
    expect_same_bits(train_case<double>(make(), one, {}, make_step), train_program<double>(make(), one), name);
  }
}

}  // namespace
}  // namespace stagewise
