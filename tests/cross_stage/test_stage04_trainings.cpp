/// @file
/// Stage 04's step trains what stage 01's steps train, in each of its forms; and within an epoch it
/// needs nothing from the host.

#include <algorithm>
#include <numeric>

#include "cross_stage/random_shapes.hpp"
#include "cross_stage/trainings.hpp"
#include "cross_stage/worker_trainings.hpp"
#include "cuda/check.hpp"
#include "golden/cnn.hpp"
#include "golden/golden.hpp"
#include "golden/workers.hpp"
#include "support.hpp"
#ifdef STAGEWISE_CUDA_ON_CPU
#include "cuda_on_cpu/settings.hpp"
#endif

namespace stagewise {
namespace {

using cross_stage::Arrival;
using cross_stage::cases_named;
using cross_stage::expect_same_arrival;
using cross_stage::expect_same_bits;
using cross_stage::name_of;
using cross_stage::Starts;
using cross_stage::starts_of;
using cross_stage::train_captured;
using cross_stage::train_serially;
using cross_stage::TrainingCase;

struct Minibatch {
  template <typename T>
  static std::unique_ptr<Backend<T>> make() {
    return std::make_unique<MinibatchBackend<T>>();
  }
};

/// The eager step on the fused layers, which update nothing themselves.
INSTANTIATE_TYPED_TEST_SUITE_P(Stage04Eager, Trainings, StageTypes<Minibatch>, StageNames);

/// Batches of 10 that neither 3 nor 8 divides, and a last one of 7 samples: fewer than 8 workers.
/// Means that come in every step, once an epoch or less, and in the middle of an epoch.
const std::vector<WorkerOptions> all_workers = {
    {.workers = 1},
    {.workers = 2},
    {.workers = 3},
    {.workers = 8},
    {.workers = 1, .average = Average::weights, .average_every = 3},
    {.workers = 2, .average = Average::weights, .average_every = 1},
    {.workers = 3, .average = Average::weights, .average_every = 3},
    {.workers = 3, .average = Average::weights, .average_every = 7},
    {.workers = 8, .average = Average::weights, .average_every = 7}};

/// One of them, for tests that need no more.
const WorkerOptions averaged_weights = {
    .workers = 3, .average = Average::weights, .average_every = 7};

template <typename T>
class Stage04Trainings : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  }

  /// All in double, which is the stricter comparison; some of each kind in float.
  static std::vector<WorkerOptions> some_workers() {
    if (is_in_a_slow_preset()) return {averaged_weights};
    if (std::is_same_v<T, double>) return all_workers;
    return {all_workers[0], all_workers[3], averaged_weights};
  }

  /// Expects these trainings in this form to arrive where stage 01's do.
  static void expect_stage_01(const std::string& beginning, const WorkerOptions& workers,
                              const CapturedStepOptions& options = {}) {
    for (const TrainingCase& one : cases_named(beginning)) {
      expect_same_arrival<T>(train_captured<T>(one, workers, options),
                             train_serially<T>(one, workers), one.name + ", " + name_of(workers));
    }
  }
};
TYPED_TEST_SUITE(Stage04Trainings, Precisions, PrecisionNames);

TYPED_TEST(Stage04Trainings, PerceptronsEqualThoseOfStage01) {
  for (const WorkerOptions& workers : this->some_workers()) this->expect_stage_01("mlp", workers);
}

TYPED_TEST(Stage04Trainings, NeuronsEqualThoseOfStage01) {
  for (const WorkerOptions& workers : this->some_workers()) {
    this->expect_stage_01("neuron", workers);
  }
}

TYPED_TEST(Stage04Trainings, ConvolutionalNetworksEqualThoseOfStage01) {
  this->expect_stage_01("cnn", {.workers = 1});
  this->expect_stage_01("cnn_without", {.workers = 8});  // batches of 6
  const TrainingCase with_biases = cases_named("cnn").front();
  const WorkerOptions workers = {.workers = 3, .average = Average::weights, .average_every = 3};
  expect_same_arrival<TypeParam>(train_captured<TypeParam>(with_biases, workers),
                                 train_serially<TypeParam>(with_biases, workers), "cnn");
}

/// Every way to work, with one worker and with three.
TYPED_TEST(Stage04Trainings, EveryFormEqualsStage01) {
  const std::vector<CapturedStepOptions> forms = {
      {.gather = GatherForm::loads},
      {.gather = GatherForm::kernel},
      {.fuses = false},
      {.captures = false},
      {.streams_batches = true},
      {.captures = false, .gather = GatherForm::kernel, .fuses = false}};
  for (const CapturedStepOptions& form : forms) {
    this->expect_stage_01("neuron", {.workers = 1}, form);
    this->expect_stage_01("mlp_squared_error", averaged_weights, form);
    if (!is_in_a_slow_preset()) this->expect_stage_01("mlp_relu", {.workers = 3}, form);
  }
  this->expect_stage_01("cnn_without", {.workers = 2}, {.streams_batches = true});
}

/// Recording, and how a batch comes to the device, change who does something, not what is done.
TYPED_TEST(Stage04Trainings, FormsThatComputeTheSameAreEqualBitForBit) {
  using T = TypeParam;
  const TrainingCase one = cases_named("mlp_relu").front();
  for (const WorkerOptions& workers : {WorkerOptions{.workers = 1}, averaged_weights}) {
    const std::string what = name_of(workers);
    expect_same_bits(train_captured<T>(one, workers),
                     train_captured<T>(one, workers, {.captures = false}), what);
    const Arrival copied = train_captured<T>(one, workers, {.gather = GatherForm::kernel});
    expect_same_bits(train_captured<T>(one, workers, {.streams_batches = true}), copied,
                     what + ", streamed");
  }
}

TYPED_TEST(Stage04Trainings, RepeatThemselvesBitForBit) {
  using T = TypeParam;
  struct Training {
    std::string name;
    WorkerOptions workers;
  };
  for (const auto& [name, workers] :
       {Training{"mlp_relu", {.workers = 1}}, Training{"mlp_sigmoid", {.workers = 3}},
        Training{"mlp_squared_error", averaged_weights}, Training{"neuron", {.workers = 8}},
        Training{"cnn_without", {.workers = 2}}}) {
    const TrainingCase one = cases_named(name).front();
    expect_same_bits(train_captured<T>(one, workers), train_captured<T>(one, workers),
                     name + ", " + name_of(workers));
  }
}

TYPED_TEST(Stage04Trainings, EqualThoseOfStage03) {
  using T = TypeParam;
  for (const TrainingCase& one : cross_stage::training_cases()) {
    if (one.name == "cnn") continue;  // long enough without biases
    if (one.name != "mlp_relu" && is_in_a_slow_preset()) continue;
    SharedMemoryBackend<T> before;
    cross_stage::expect_same_outcome<T>(train_captured<T>(one, {.workers = 1}).outcome,
                                        cross_stage::train_eagerly(before, one), one.name);
  }
}

/// Recordings come in powers of two, up to 32 steps: epochs that need several, and their rests.
TYPED_TEST(Stage04Trainings, EpochsOfManyStepsAreStage01s) {
  TrainingCase one = cases_named("mlp_squared_error").front();
  for (const Index batch_size : {1, 2, 97}) {  // 97, 49 and 1 steps
    one.options.batch_size = batch_size;
    const WorkerOptions workers = {.workers = 2, .average = Average::weights, .average_every = 45};
    const std::string what = "batches of " + std::to_string(batch_size);
    expect_same_arrival<TypeParam>(train_captured<TypeParam>(one, {.workers = 1}),
                                   train_serially<TypeParam>(one, {.workers = 1}), what);
    expect_same_arrival<TypeParam>(train_captured<TypeParam>(one, workers),
                                   train_serially<TypeParam>(one, workers), what + ", 2 workers");
  }
}

class Stage04 : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  }
};

// --------------------------------------------------------------------------------------- PyTorch

TEST_F(Stage04, EqualsPyTorch) {
  for (const std::string& name : golden::case_names()) {
    const golden::Case golden_case = golden::load(name);
    for (const int workers : {1, 3}) {
      MinibatchBackend<double> backend;
      const auto network = build_model<double>(backend, golden_case.model,
                                               golden_case.options.batch_size, GraphMode::training);
      copy_parameters_in(network->graph, golden_case.initial, "the golden file");
      CapturedStep<double> step(*network, backend, golden_case.model, golden_case.data,
                                golden_case.options.sgd, {.workers = workers}, {}, 0, {});
      EXPECT_LE(golden::distance(golden::train_with(*network, step, golden_case), golden_case),
                golden::bound)
          << name << ", " << workers << " workers";
    }
  }
}

TEST_F(Stage04, EqualsPyTorchsCnn) {
  MinibatchBackend<double> backend;
  for (const std::string& name : golden::cnn_case_names()) {
    golden::expect_cnn_equals_pytorch(backend, name);
  }
}

TEST_F(Stage04, WorkersEqualPyTorchs) {
  MinibatchBackend<double> backend;
  golden::expect_workers_equal_pytorch(
      backend, [&](Network<double>& network, const golden::Case& file, const WorkerOptions& workers,
                   const Starts& starts) {
        return std::make_unique<CapturedStep<double>>(network, backend, file.model, file.data,
                                                      file.options.sgd, workers, starts, 0,
                                                      CapturedStepOptions{});
      });
}

// ---------------------------------------------------------------------------------- the interface

/// A step for a training of 97 samples in batches of 10, to be led by hand.
class StepByHand {
 public:
  explicit StepByHand(const WorkerOptions& workers, const CapturedStepOptions& options = {})
      : backend_(options.fuses),
        network_(
            build_model<float>(backend_, one_.model, one_.options.batch_size, GraphMode::training)),
        starts_(starts_of(*network_, one_, workers)),
        order_(static_cast<std::size_t>(one_.data.size())) {
    initialize_parameters(*network_, one_.model, one_.options.seed);
    step_ = std::make_unique<CapturedStep<float>>(*network_, backend_, one_.model, one_.data,
                                                  one_.options.sgd, workers, starts_, 0, options);
    std::iota(order_.begin(), order_.end(), 0U);
  }

  CapturedStep<float>& step() { return *step_; }
  Network<float>& network() { return *network_; }
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
  MinibatchBackend<float> backend_;
  std::unique_ptr<Network<float>> network_;
  Starts starts_;
  std::unique_ptr<CapturedStep<float>> step_;
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

TEST_F(Stage04, GivesTheMemoryBack) {
  MinibatchBackend<float> first_use;  // what the runtime itself keeps
  const auto free_memory = [] {
    std::size_t free = 0;
    std::size_t total = 0;
    CUDA_CHECK(cudaMemGetInfo(&free, &total));
    return free;
  };
  for (const bool streams : {false, true}) {  // what the runtime keeps of each form's first use
    StepByHand warm_up({.workers = 3}, {.streams_batches = streams});
    warm_up.begin_epoch();
    warm_up.run_steps();
  }
  const std::size_t before = free_memory();
  for (const bool streams : {false, true}) {
    StepByHand training({.workers = 3}, {.streams_batches = streams});
    training.begin_epoch();
    training.run_steps();
    EXPECT_LT(free_memory(), before);
  }
  EXPECT_EQ(free_memory(), before);
}

TEST_F(Stage04, NeedsAStartForEveryWorkerWithItsOwnWeights) {
  const TrainingCase one = cases_named("mlp_relu").front();
  MinibatchBackend<float> backend;
  const auto network =
      build_model<float>(backend, one.model, one.options.batch_size, GraphMode::training);
  const WorkerOptions workers = {.workers = 2, .average = Average::weights};
  EXPECT_EQ(sentence_of([&] {
              CapturedStep<float>(*network, backend, one.model, one.data, one.options.sgd, workers,
                                  Starts(1), 0, {});
            }),
            "2 workers cannot start from the parameters of 1");
}

// ------------------------------------------------------------------- what only the CPU can count

#ifdef STAGEWISE_CUDA_ON_CPU

using cuda_on_cpu::Counters;
using cuda_on_cpu::counters;

/// What happens between an epoch's beginning and its totals.
Counters count_within_an_epoch(const WorkerOptions& workers,
                               const CapturedStepOptions& options = {}) {
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
  for (const WorkerOptions& workers :
       {WorkerOptions{.workers = 1}, WorkerOptions{.workers = 3},
        WorkerOptions{.workers = 1, .average = Average::weights},
        WorkerOptions{.workers = 3, .average = Average::weights, .average_every = 2}}) {
    for (const GatherForm gather : {GatherForm::loads, GatherForm::kernel}) {
      const Counters within = count_within_an_epoch(workers, {.gather = gather});
      EXPECT_EQ(within.allocations, 0U) << name_of(workers);
      EXPECT_EQ(within.copies, 0U) << name_of(workers);
      EXPECT_EQ(within.host_synchronizations, 0U) << name_of(workers);
      EXPECT_GT(within.graph_launches, 0U) << name_of(workers);
      EXPECT_GT(within.launches, 30U) << "that is no training";
    }
  }
}

/// Nine batches in recordings of 8 and 1 steps, and one of the rest.
TEST_F(Stage04, AnEpochIsAFewLaunches) {
  EXPECT_EQ(count_within_an_epoch({.workers = 1}).graph_launches, 3U);
  EXPECT_EQ(count_within_an_epoch({.workers = 3}).graph_launches, 3U);
}

/// That the counts above could be others.
TEST_F(Stage04, WhatIsCountedCanHappen) {
  const Counters streamed = count_within_an_epoch({.workers = 1}, {.streams_batches = true});
  EXPECT_EQ(streamed.copies, 20U) << "features and labels of ten batches";
  EXPECT_EQ(streamed.host_synchronizations, 10U) << "until a buffer on the host is free again";
  EXPECT_EQ(streamed.allocations, 0U);
  EXPECT_EQ(count_within_an_epoch({.workers = 3}, {.captures = false}).graph_launches, 0U);

  StepByHand training({.workers = 1});
  const std::uint64_t before = counters().allocations;
  const StepByHand another({.workers = 1});
  EXPECT_GT(counters().allocations, before);
}

/// Fusing is fewer launches: for a step of a network with a hidden layer, five kernels and the
/// loss, and a share of what takes several steps' samples at once.
TEST_F(Stage04, FusingSavesLaunches) {
  const std::uint64_t fused = count_within_an_epoch({.workers = 1}).launches;
  EXPECT_EQ(fused, 10U * 5 + 3);
  EXPECT_GT(count_within_an_epoch({.workers = 1}, {.fuses = false}).launches, fused + 50);
}

/// Workers side by side, and work that is done only when somebody waits for it: a wait that is
/// missing somewhere between the streams would show.
TEST_F(Stage04, EqualsItselfWhateverTheOrderOfWork) {
  const cuda_on_cpu::Settings before = cuda_on_cpu::settings();
  const TrainingCase one = cases_named("mlp_relu").front();
  for (const WorkerOptions& workers : {WorkerOptions{.workers = 3}, averaged_weights}) {
    for (const CapturedStepOptions& options :
         {CapturedStepOptions{}, CapturedStepOptions{.streams_batches = true}}) {
      const Arrival expected = train_captured<float>(one, workers, options);
      for (const bool lazy : {false, true}) {
        cuda_on_cpu::settings().lazy_streams = lazy;
        cuda_on_cpu::settings().thread_order = cuda_on_cpu::ThreadOrder::random;
        expect_same_bits(train_captured<float>(one, workers, options), expected,
                         name_of(workers) + (lazy ? ", lazy" : ", eager"));
        cuda_on_cpu::settings() = before;
      }
    }
  }
}

/// Where the data set does not fit beside the network, batches are streamed, to the same effect.
TEST_F(Stage04, StreamsWhatDoesNotFit) {
  const TrainingCase one = cases_named("mlp_relu").front();
  const cuda_on_cpu::Settings before = cuda_on_cpu::settings();
  MinibatchBackend<float> backend;
  const auto network =
      build_model<float>(backend, one.model, one.options.batch_size, GraphMode::training);
  std::size_t free = 0;
  std::size_t total = 0;
  CUDA_CHECK(cudaMemGetInfo(&free, &total));
  const std::size_t used = total - free;
  cuda_on_cpu::settings().device_memory = used + 4000;  // of 97 x (11 x 4 + 8) bytes and more
  {
    const CapturedStep<float> step(*network, backend, one.model, one.data, one.options.sgd,
                                   {.workers = 1}, {}, 0, {});
    ASSERT_EQ(step.notes().size(), 1U);
    const std::string note = step.notes().front();
    EXPECT_TRUE(note.starts_with("7.7 KB are needed to keep the data, ")) << note;
    EXPECT_TRUE(note.ends_with(" KB are free: batches are streamed")) << note;
  }
  cuda_on_cpu::settings() = before;
  const CapturedStep<float> step(*network, backend, one.model, one.data, one.options.sgd,
                                 {.workers = 1}, {}, 0, {});
  EXPECT_TRUE(step.notes().empty());
}

#else

TEST_F(Stage04, AnEpochNeedsNothingFromTheHost) {
  GTEST_SKIP() << "allocations, copies and waits are counted by CUDA on the CPU only";
}

#endif

}  // namespace
}  // namespace stagewise
