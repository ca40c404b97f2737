/// @file
/// Stage 04's step trains what stage 01's steps train, in each of its forms; and within an epoch it
/// needs nothing from the host.

#include <algorithm>
#include <numeric>

#include "cross_stage/gpu_test.hpp"
#include "cross_stage/recorded_trainings.hpp"
#include "cuda/check.hpp"
#include "support.hpp"
#ifdef CUDA_ON_CPU
#include "cuda_on_cpu/settings.hpp"
#endif

namespace stagewise {
namespace {

using namespace cross_stage;

/// Batches of 10 that neither 3 nor 8 divides, and a last one of 7 samples: fewer than 8 workers.
/// Means that come in every step, once an epoch or less, and in the middle of an epoch.
const std::vector<WorkerOptions> all_workers = {{.workers = 1},
                                                {.workers = 2},
                                                {.workers = 3},
                                                {.workers = 8},
                                                {.workers = 1, .average = Average::weights, .average_every = 3},
                                                {.workers = 2, .average = Average::weights, .average_every = 1},
                                                {.workers = 3, .average = Average::weights, .average_every = 3},
                                                {.workers = 3, .average = Average::weights, .average_every = 7},
                                                {.workers = 8, .average = Average::weights, .average_every = 7}};

/// One of them, for tests that need no more.
const WorkerOptions averaged_weights = {.workers = 3, .average = Average::weights, .average_every = 7};

template <typename T>
class Stage04Trainings : public GpuTest {
 protected:
  /// All in double, which is the stricter comparison; some of each kind in float.
  static std::vector<WorkerOptions> some_workers() {
    if (is_in_a_slow_preset()) return {averaged_weights};
    if (std::is_same_v<T, double>) return all_workers;
    return {all_workers[0], all_workers[3], averaged_weights};
  }

  /// Expects these trainings in this form to arrive where stage 01's do.
  static void expect_stage_01(const std::string& beginning, const WorkerOptions& workers,
                              const RecordedStepOptions& options = {}) {
    for (const TrainingCase& one : cases_named(beginning)) {
      expect_same_outcome<T>(train_recorded<T>(one, workers, options), train_serially<T>(one, workers),
                             one.name + ", " + name_of(workers));
    }
  }
};
TYPED_TEST_SUITE(Stage04Trainings, Precisions, PrecisionNames);

TYPED_TEST(Stage04Trainings, PerceptronsEqualThoseOfStage01) {
  for (const WorkerOptions& workers : this->some_workers()) {
    this->expect_stage_01("mlp", workers);
    this->expect_stage_01("neuron", workers);
  }
}

TYPED_TEST(Stage04Trainings, EveryOptimizerEqualsStage01s) {
  for (const std::string name : {"momentum", "adam"}) {
    for (const WorkerOptions& workers : {WorkerOptions{.workers = 1}, WorkerOptions{.workers = 3}, averaged_weights}) {
      this->expect_stage_01(name, workers);
    }
  }
}

TYPED_TEST(Stage04Trainings, ConvolutionalNetworksEqualThoseOfStage01) {
  this->expect_stage_01("cnn", {.workers = 1});
  this->expect_stage_01("cnn_without", {.workers = 8});  // batches of 6
  const TrainingCase with_biases = cases_named("cnn").front();
  const WorkerOptions workers = {.workers = 3, .average = Average::weights, .average_every = 3};
  expect_same_outcome<TypeParam>(train_recorded<TypeParam>(with_biases, workers),
                                 train_serially<TypeParam>(with_biases, workers), "cnn");
}

/// Every way to work, with one worker and with three.
TYPED_TEST(Stage04Trainings, EveryFormEqualsStage01) {
  const std::vector<RecordedStepOptions> forms = {{.fuse = {.gathers = true}},
                                                  {.fuse = {.gathers = false}},
                                                  {.fuse = {.layers = false}},
                                                  {.records = false},
                                                  {.fuse = {.last_layer = minibatch::LastLayer::loss}},
                                                  {.fuse = {.last_layer = minibatch::LastLayer::warp_per_row}},
                                                  {.streams_batches = true},
                                                  {.records = false, .fuse = {.layers = false, .gathers = false}}};
  for (const RecordedStepOptions& form : forms) {
    this->expect_stage_01("neuron", {.workers = 1}, form);
    this->expect_stage_01("mlp_squared_error", averaged_weights, form);
    if (!is_in_a_slow_preset()) this->expect_stage_01("mlp_relu", {.workers = 3}, form);
  }
  this->expect_stage_01("cnn_without", {.workers = 2}, {.streams_batches = true});
  for (const std::string name : {"cnn_without", "momentum", "adam"}) {
    this->expect_stage_01(name, {.workers = 1}, forms.back());
  }
}

/// Recording, and how a batch comes to the device, change who does something, not what is done.
TYPED_TEST(Stage04Trainings, FormsThatComputeTheSameAreEqualBitForBit) {
  using T = TypeParam;
  const TrainingCase one = cases_named("mlp_relu").front();
  for (const WorkerOptions& workers : {WorkerOptions{.workers = 1}, averaged_weights}) {
    const std::string what = name_of(workers);
    expect_same_bits(train_recorded<T>(one, workers), train_recorded<T>(one, workers, {.records = false}), what);
    const Outcome copied = train_recorded<T>(one, workers, {.fuse = {.gathers = false}});
    expect_same_bits(train_recorded<T>(one, workers, {.streams_batches = true}), copied, what + ", streamed");
  }
}

TYPED_TEST(Stage04Trainings, RepeatThemselvesBitForBit) {
  using T = TypeParam;
  for (const auto& [name, workers] :
       std::vector<std::pair<std::string, WorkerOptions>>{{"mlp_relu", {.workers = 1}},
                                                          {"mlp_sigmoid", {.workers = 3}},
                                                          {"mlp_squared_error", averaged_weights},
                                                          {"neuron", {.workers = 8}},
                                                          {"cnn_without", {.workers = 2}}}) {
    const TrainingCase one = cases_named(name).front();
    expect_same_bits(train_recorded<T>(one, workers), train_recorded<T>(one, workers), name + ", " + name_of(workers));
  }
}

/// Recordings have up to 32 steps: epochs that need several, and their rests.
TYPED_TEST(Stage04Trainings, EpochsOfManyStepsAreStage01s) {
  TrainingCase one = cases_named("mlp_squared_error").front();
  for (const Index batch_size : {1, 2, 97}) {  // 97, 49 and 1 steps
    one.options.batch_size = batch_size;
    const WorkerOptions workers = {.workers = 2, .average = Average::weights, .average_every = 45};
    const std::string what = "batches of " + std::to_string(batch_size);
    expect_same_outcome<TypeParam>(train_recorded<TypeParam>(one, {.workers = 1}),
                                   train_serially<TypeParam>(one, {.workers = 1}), what);
    expect_same_outcome<TypeParam>(train_recorded<TypeParam>(one, workers), train_serially<TypeParam>(one, workers),
                                   what + ", 2 workers");
  }
}

class Stage04 : public GpuTest {};

// ---------------------------------------------------------------------------------- the interface

/// A step for a training of 97 samples in batches of 10, to be led by hand.
class StepByHand {
 public:
  explicit StepByHand(const WorkerOptions& workers, const RecordedStepOptions& options = {}, Index starts = -1)
      : network_(build_model(one_.model), std::make_unique<MinibatchExecutor<float>>(),
                 fusing<float>(one_, options.fuse.layers)),
        order_(static_cast<std::size_t>(one_.data.size())) {
    Starts all = starts_of(network_.model, one_, workers);
    if (starts >= 0) all.resize(static_cast<std::size_t>(starts));
    step_ = std::make_unique<RecordedStep<float>>(
        StepSetup<float>{network_, one_.data, workers, one_.options.batch_size},
        static_cast<MinibatchExecutor<float>&>(*network_.executor), one_.data.size(),
        recorded_programs(network_.model, one_, workers), all, options);
    network_.load(one_.options.batch_size);
    std::iota(order_.begin(), order_.end(), 0U);
  }

  RecordedStep<float>& step() { return *step_; }
  Index samples() const { return one_.data.size(); }

  void begin_epoch() { step_->begin_epoch(order_); }

  /// Asks for all of an epoch's steps, and waits without waiting.
  void run_steps() {
    const Index batch = one_.options.batch_size;
    for (Index first = 0; first < samples(); first += batch) {
      step_->run(first, std::min(batch, samples() - first));
    }
    while (!step_->is_done()) {
    }
  }

 private:
  TrainingCase one_ = cases_named("mlp_relu").front();
  Network<float> network_;
  std::unique_ptr<RecordedStep<float>> step_;
  std::vector<std::uint32_t> order_;
};

TEST_F(Stage04, TellsHowFarItIs) {
  for (const bool streams : {false, true}) {
    StepByHand training({.workers = 1}, {.streams_batches = streams});
    for (int epoch = 0; epoch < 2; ++epoch) {
      training.begin_epoch();
      EXPECT_EQ(training.step().samples_done(0), 0);
      training.run_steps();
      const Index done = training.step().samples_done(training.samples());
      EXPECT_GT(done, 0) << "nothing is done when everything is";
      EXPECT_LE(done, training.samples());
      EXPECT_EQ(training.step().samples_done(5), 5) << "more than was asked for";
      EXPECT_GT(training.step().totals().correct, 0);
      training.step().end_epoch();
    }
  }
}

std::size_t used_memory() {
  std::size_t free = 0;
  std::size_t total = 0;
  CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return total - free;
}

TEST_F(Stage04, GivesTheMemoryBack) {
  const MinibatchExecutor<float> first_use;   // what the runtime itself keeps
  for (const bool streams : {false, true}) {  // what the runtime keeps of each form's first use
    StepByHand warm_up({.workers = 3}, {.streams_batches = streams});
    warm_up.begin_epoch();
    warm_up.run_steps();
  }
  const std::size_t before = used_memory();
  for (const bool streams : {false, true}) {
    StepByHand training({.workers = 3}, {.streams_batches = streams});
    training.begin_epoch();
    training.run_steps();
    EXPECT_GT(used_memory(), before);
  }
  EXPECT_EQ(used_memory(), before);
}

TEST_F(Stage04, NeedsAStartForEveryWorkerWithItsOwnWeights) {
  const WorkerOptions workers = {.workers = 2, .average = Average::weights};
  EXPECT_EQ(sentence_of([&] { StepByHand(workers, {}, 1); }), "2 workers cannot start from the parameters of 1");
}

// ------------------------------------------------------------------- what only the CPU can count

#ifdef CUDA_ON_CPU

using cuda_on_cpu::Counters;
using cuda_on_cpu::counters;

/// What happens between an epoch's beginning and its totals.
Counters count_within_an_epoch(const WorkerOptions& workers, const RecordedStepOptions& options = {}) {
  StepByHand training(workers, options);
  Counters result{};
  for (int epoch = 0; epoch < 2; ++epoch) {  // the second one, when everything is warm
    training.begin_epoch();
    const Counters before = counters();
    training.run_steps();
    const Counters after = counters();
    result = {.allocations = after.allocations - before.allocations,
              .launches = after.launches - before.launches,
              .graph_launches = after.graph_launches - before.graph_launches,
              .copies = after.copies - before.copies,
              .host_synchronizations = after.host_synchronizations - before.host_synchronizations};
    EXPECT_GT(training.step().totals().loss, 0);
    training.step().end_epoch();
  }
  return result;
}

TEST_F(Stage04, AnEpochNeedsNothingFromTheHost) {
  for (const WorkerOptions& workers : {WorkerOptions{.workers = 1}, WorkerOptions{.workers = 3},
                                       WorkerOptions{.workers = 1, .average = Average::weights},
                                       WorkerOptions{.workers = 3, .average = Average::weights, .average_every = 2}}) {
    for (const RecordedStepOptions& options : {RecordedStepOptions{}, RecordedStepOptions{.fuse = {.gathers = false}},
                                               RecordedStepOptions{.streams_batches = true}}) {
      const Counters within = count_within_an_epoch(workers, options);
      EXPECT_EQ(within.allocations, 0U) << name_of(workers);
      EXPECT_EQ(within.copies, 0U) << name_of(workers);
      EXPECT_EQ(within.host_synchronizations, 0U) << name_of(workers);
      EXPECT_GT(within.graph_launches, 0U) << name_of(workers);
      EXPECT_GT(within.launches, 25U) << "that is no training";
    }
  }
}

/// Nine batches in one recording, and one of the rest.
TEST_F(Stage04, AnEpochIsAFewLaunches) {
  EXPECT_EQ(count_within_an_epoch({.workers = 1}).graph_launches, 2U);
  EXPECT_EQ(count_within_an_epoch({.workers = 3}).graph_launches, 2U);
  EXPECT_EQ(count_within_an_epoch({.workers = 1}, {.streams_batches = true}).graph_launches, 2U);
}

/// That the counts above could be others.
TEST_F(Stage04, WhatIsCountedCanHappen) {
  EXPECT_EQ(count_within_an_epoch({.workers = 3}, {.records = false}).graph_launches, 0U);

  StepByHand training({.workers = 1});
  const Counters before = counters();
  training.begin_epoch();
  EXPECT_GT(counters().copies, before.copies) << "the epoch's order";
  EXPECT_GT(counters().host_synchronizations, before.host_synchronizations);
  const StepByHand another({.workers = 1});
  EXPECT_GT(counters().allocations, before.allocations);
}

/// Fusing is fewer launches: for a step of a network with a hidden layer, three kernels, and a
/// share of what takes several steps' samples at once.
TEST_F(Stage04, FusingSavesLaunches) {
  const std::uint64_t fused = count_within_an_epoch({.workers = 1}).launches;
  EXPECT_EQ(fused, 10U * 3 + 2);
  EXPECT_GT(count_within_an_epoch({.workers = 1}, {.fuse = {.layers = false}}).launches, fused + 50);
}

/// Workers side by side, and work that is done only when somebody waits for it: a wait that is
/// missing somewhere between the streams would show.
TEST_F(Stage04, EqualsItselfWhateverTheOrderOfWork) {
  const cuda_on_cpu::Settings before = cuda_on_cpu::settings();
  const TrainingCase one = cases_named("mlp_relu").front();
  for (const WorkerOptions& workers : {WorkerOptions{.workers = 3}, averaged_weights}) {
    for (const RecordedStepOptions& options : {RecordedStepOptions{}, RecordedStepOptions{.streams_batches = true}}) {
      const Outcome expected = train_recorded<float>(one, workers, options);
      for (const bool lazy : {false, true}) {
        cuda_on_cpu::settings().lazy_streams = lazy;
        cuda_on_cpu::settings().thread_order = cuda_on_cpu::ThreadOrder::random;
        expect_same_bits(train_recorded<float>(one, workers, options), expected,
                         name_of(workers) + (lazy ? ", lazy" : ", eager"));
        cuda_on_cpu::settings() = before;
      }
    }
  }
}

#else

TEST_F(Stage04, AnEpochNeedsNothingFromTheHost) {
  GTEST_SKIP() << "allocations, copies and waits are counted by CUDA on the CPU only";
}

#endif

}  // namespace
}  // namespace stagewise
