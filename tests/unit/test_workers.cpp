/// @file
/// Workers against training without any, and against networks that are trained apart.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "network/initialize.hpp"
#include "support.hpp"
#include "training/parameters.hpp"
#include "training/trainer.hpp"
#include "unit/observed_executor.hpp"
#include "unit/programs.hpp"

namespace stagewise {
namespace {

// ----------------------------------------------------------------------------------------- shards

TEST(ShardOf, SharesOutEverySampleOnceAndEvenly) {
  for (Index rows = 0; rows <= 60; ++rows) {
    for (const int workers : {1, 2, 3, 7, 16, 59, 60, 61, 100}) {
      SCOPED_TRACE(std::to_string(rows) + " samples, " + std::to_string(workers) + " workers");
      Index next = 0;
      Index smallest = rows;
      Index previous = rows;
      for (int worker = 0; worker < workers; ++worker) {
        const Shard shard = shard_of(rows, workers, worker);
        EXPECT_EQ(shard.first, next);
        EXPECT_GE(shard.rows, 0);
        EXPECT_LE(shard.rows, previous) << "the longer ones come first";
        next += shard.rows;
        smallest = std::min(smallest, shard.rows);
        previous = shard.rows;
      }
      EXPECT_EQ(next, rows);
      EXPECT_LE(shard_of(rows, workers, 0).rows - smallest, 1);
    }
  }
}

// --------------------------------------------------------------------------------------- training

constexpr Index samples = 53;
constexpr int classes = 4;
constexpr std::int64_t epochs = 4;
const Shape sample_shape{3, 2, 1};

Dataset make_data() {
  return {sample_shape, classes, random_values<double>(samples * sample_shape.elements(), 1),
          random_labels(samples, classes, 2)};
}

/// Sigmoid units: sums in another order would switch a relu here and there.
ModelOptions make_model() {
  return {.hidden = {9, 5},
          .activation = Activation::sigmoid,
          .sample = sample_shape,
          .classes = classes};
}

TrainingOptions make_options(Index batch_size, std::int64_t last_epoch = epochs) {
  return {.batch_size = batch_size,
          .epochs = last_epoch,
          .sgd = {.learning_rate = 0.5, .l2 = 0.01},
          .seed = 5};
}

std::int64_t steps_per_epoch(Index batch_size) {
  return (samples + batch_size - 1) / batch_size;
}

/// What is reported after each epoch.
struct History {
  std::vector<EpochReport> reports;
  std::vector<std::vector<ParameterValues>> parameters;
};

class Recorder final : public TrainingObserver {
 public:
  void on_step(std::int64_t /*epoch*/, Index /*done*/) override {}
  void on_epoch(const EpochReport& report, std::int64_t /*steps*/,
                const std::vector<ParameterValues>& values) override {
    history.reports.push_back(report);
    history.parameters.push_back(values);
  }

  History history;
};

/// A worker's parameters to start from, with biases that are not 0: otherwise an l2 that is applied
/// to them would not show.
std::vector<ParameterValues> make_start(std::uint64_t worker = 0) {
  const Model model = build_model(make_model());
  std::vector<ParameterValues> start = initial_parameters(model, make_model(), 5, worker);
  for (ParameterValues& parameter : start) {
    if (parameter.name.ends_with("bias")) {
      parameter.values = random_values<double>(parameter.shape.elements(), 40 + worker);
    }
  }
  return start;
}

using Starts = std::vector<std::vector<ParameterValues>>;

/// One for all, or for each worker its own.
Starts make_starts(const WorkerOptions& workers) {
  Starts starts = {make_start()};
  for (int worker = 1; worker < workers.workers && workers.average == Average::weights; ++worker) {
    starts.push_back(make_start(static_cast<std::uint64_t>(worker)));
  }
  return starts;
}

/// A network and the step that trains it.
template <typename T>
struct Training {
  Training(Index batch_size, const WorkerOptions& workers, const Starts& starts,
           const Sgd& sgd = make_options(1).sgd, std::int64_t steps_done = 0)
      : network(make_network<T>(make_model(), batch_size)),
        programs(build_training(network.model, sgd, workers)),
        step({network, data, workers, batch_size, steps_done}, programs, starts) {}

  Dataset data = make_data();
  Network<T> network;
  TrainingPrograms programs;
  ProgramStep<T> step;
};

/// What a training leaves behind.
struct Outcome {
  History history;
  std::vector<double> gradients;  ///< of the last step, one parameter behind the other
  Starts workers;
};

template <typename T>
Outcome finish(Training<T>& training, const TrainingOptions& options,
               std::int64_t first_epoch = 1) {
  Outcome outcome;
  Recorder recorder;
  // With a validation set, the network is used for something else between two epochs.
  train(training.network, training.step, training.data, training.data.slice(0, 20), options,
        first_epoch, recorder);
  outcome.history = recorder.history;
  const Model& model = training.network.model;
  const std::string whose = training.programs.workers.empty() ? "" : "@0";
  for (const ValueId id : model.parameters) {
    const T* const gradient = training.network.executor->data(
        named(training.programs.step, "d " + model[id].name + whose));
    outcome.gradients.insert(outcome.gradients.end(), gradient,
                             gradient + model[id].shape.elements());
  }
  outcome.workers = training.step.worker_parameters();
  return outcome;
}

template <typename T>
Outcome train_with_workers(Index batch_size, const WorkerOptions& workers,
                           std::int64_t last_epoch = epochs) {
  Training<T> training(batch_size, workers, make_starts(workers));
  return finish(training, make_options(batch_size, last_epoch));
}

/// Without any workers.
template <typename T>
Outcome train_alone(Index batch_size) {
  return train_with_workers<T>(batch_size, {});
}

/// The largest difference of two sets of parameters; infinite if there is a NaN.
double distance(const std::vector<ParameterValues>& a, const std::vector<ParameterValues>& b) {
  double largest = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i].name != b[i].name || a[i].values.size() != b[i].values.size()) return INFINITY;
    for (std::size_t j = 0; j < a[i].values.size(); ++j) {
      const double apart = std::abs(a[i].values[j] - b[i].values[j]);
      if (!(apart <= largest)) largest = std::isnan(apart) ? INFINITY : apart;
    }
  }
  return largest;
}

/// Expects the same reports and parameters after each epoch, up to `bound`; 0: bit for bit.
void expect_within(const History& actual, const History& expected, double bound) {
  ASSERT_EQ(actual.reports.size(), expected.reports.size());
  for (std::size_t i = 0; i < actual.reports.size(); ++i) {
    SCOPED_TRACE("epoch " + std::to_string(expected.reports[i].epoch));
    EXPECT_LE(distance(actual.parameters[i], expected.parameters[i]), bound);
    EXPECT_NEAR(actual.reports[i].train_loss, expected.reports[i].train_loss, bound);
    EXPECT_EQ(actual.reports[i].train_accuracy, expected.reports[i].train_accuracy);
    EXPECT_NEAR(*actual.reports[i].validation_loss, *expected.reports[i].validation_loss, bound);
  }
}

template <typename T>
class Workers : public testing::Test {};
TYPED_TEST_SUITE(Workers, Precisions, PrecisionNames);

TYPED_TEST(Workers, OneWithItsOwnWeightsIsNoneBitForBit) {
  for (const Index batch_size : {10, 53, 1}) {
    const Outcome alone = train_alone<TypeParam>(batch_size);
    const Outcome one =
        train_with_workers<TypeParam>(batch_size, {.workers = 1, .average = Average::weights});
    expect_within(one.history, alone.history, 0);
    EXPECT_EQ(one.gradients, alone.gradients);
  }
}

/// 53 samples in batches of 50: the second batch has samples for three of the seven workers only.
TYPED_TEST(Workers, AverageToTheBatchsGradient) {
  const double bound = std::is_same_v<TypeParam, float> ? 1e-5 : 1e-12;
  const Outcome alone = train_alone<TypeParam>(50);
  for (const int workers : {2, 3, 7, 50, 60}) {
    SCOPED_TRACE(std::to_string(workers) + " workers");
    const Outcome shared = train_with_workers<TypeParam>(50, {.workers = workers});
    expect_within(shared.history, alone.history, bound);
    EXPECT_TRUE(shared.workers.empty());
  }
  // Far more than the bound happens in these steps.
  EXPECT_GT(distance(alone.history.parameters.front(), make_start()), 1e-2);
}

// ---------------------------------------------------------------------------- mean of the weights

std::vector<ParameterValues> mean_of(const Starts& workers) {
  std::vector<ParameterValues> mean = workers.front();
  for (std::size_t i = 0; i < mean.size(); ++i) {
    for (std::size_t j = 0; j < mean[i].values.size(); ++j) {
      double sum = 0;
      for (const auto& own : workers) sum += own[i].values[j];
      mean[i].values[j] = sum / static_cast<double>(workers.size());
    }
  }
  return mean;
}

/// As many networks as workers, each trained alone, and nothing of what is under test.
struct Simulation {
  Simulation(Index batch, const WorkerOptions& worker_options)
      : batch_size(batch), options(worker_options) {
    for (const std::vector<ParameterValues>& start : make_starts(options)) {
      workers.push_back(
          std::make_unique<Training<double>>(batch_size, WorkerOptions(), Starts{start}));
    }
  }

  void run_epoch(std::int64_t epoch) {
    std::vector<std::uint32_t> order;
    order_of_epoch(samples, make_options(batch_size).seed, epoch, true, order);
    for (const auto& worker : workers) worker->step.begin_epoch(order);
    for (Index first = 0; first < samples; first += batch_size) {
      Index rest = std::min(batch_size, samples - first);
      Index at = first;
      for (std::size_t worker = 0; worker < workers.size(); ++worker) {
        // An even share of what is left, rounded up.
        const auto left = static_cast<Index>(workers.size() - worker);
        const Index share = (rest + left - 1) / left;
        if (share > 0) workers[worker]->step.run(at, share);
        at += share;
        rest -= share;
      }
      if (++steps_done % options.average_every == 0) {
        const std::vector<ParameterValues> mean = mean_of(parameters());
        for (const auto& worker : workers) copy_parameters_in(worker->network, mean, "the mean");
      }
    }
  }

  Starts parameters() {
    Starts result;
    for (const auto& worker : workers) result.push_back(copy_parameters_out(worker->network));
    return result;
  }

  double data_loss() {
    double sum = 0;
    for (const auto& worker : workers) sum += worker->step.totals().loss;
    return sum / static_cast<double>(samples);
  }

  Index batch_size;
  WorkerOptions options;
  std::vector<std::unique_ptr<Training<double>>> workers;
  std::int64_t steps_done = 0;
};

void expect_as_simulated(Index batch_size, int workers, std::int64_t average_every) {
  SCOPED_TRACE(std::to_string(workers) + " workers, batches of " + std::to_string(batch_size) +
               ", a mean every " + std::to_string(average_every) + " steps");
  const WorkerOptions options = {
      .workers = workers, .average = Average::weights, .average_every = average_every};
  const Outcome outcome = train_with_workers<double>(batch_size, options);
  Simulation simulation(batch_size, options);
  ASSERT_EQ(outcome.history.reports.size(), static_cast<std::size_t>(epochs));
  for (std::int64_t epoch = 1; epoch <= epochs; ++epoch) {
    simulation.run_epoch(epoch);
    const auto at = static_cast<std::size_t>(epoch - 1);
    const std::vector<ParameterValues> mean = mean_of(simulation.parameters());
    EXPECT_LE(distance(outcome.history.parameters[at], mean), 1e-13) << "epoch " << epoch;
    EXPECT_NEAR(outcome.history.reports[at].train_loss,
                simulation.data_loss() + 0.01 / 2 * squared_norm_of_weights(mean), 1e-13);
  }
  const Starts expected = simulation.parameters();
  ASSERT_EQ(outcome.workers.size(), expected.size());
  for (std::size_t worker = 0; worker < expected.size(); ++worker) {
    EXPECT_LE(distance(outcome.workers[worker], expected[worker]), 1e-13) << "worker " << worker;
  }
  const bool ends_in_a_mean = epochs * steps_per_epoch(batch_size) % average_every == 0;
  if (ends_in_a_mean) {
    EXPECT_EQ(distance(outcome.workers.front(), outcome.workers.back()), 0);
  } else {
    EXPECT_GT(distance(outcome.workers.front(), outcome.workers.back()), 1e-4);
  }
}

TEST(WorkersWithTheirOwnWeights, AreNetworksTrainedApart) {
  expect_as_simulated(10, 3, 1);
  expect_as_simulated(10, 3, 6);    // once an epoch
  expect_as_simulated(10, 3, 4);    // no divisor of an epoch's six steps: counted through
  expect_as_simulated(10, 3, 5);    // the training ends between two means
  expect_as_simulated(10, 3, 100);  // never
}

TEST(WorkersWithTheirOwnWeights, KeepThemWhereThereAreNoSamplesForThem) {
  expect_as_simulated(25, 5, 2);  // the last batch has three
  expect_as_simulated(4, 7, 5);   // three workers never have any
}

TEST(WorkersWithTheirOwnWeights, StartWithTheMeanInTheNetwork) {
  const WorkerOptions workers = {.workers = 3, .average = Average::weights};
  const Starts starts = make_starts(workers);
  EXPECT_GT(distance(starts[0], starts[1]), 1e-2);
  EXPECT_GT(distance(starts[1], starts[2]), 1e-2);
  Training<double> training(10, workers, starts);
  EXPECT_LE(distance(copy_parameters_out(training.network), mean_of(starts)), 1e-15);
}

TEST(WorkersWithTheirOwnWeights, MustBeAsManyAsTheirStarts) {
  const Starts starts = make_starts({.workers = 2, .average = Average::weights});
  EXPECT_EQ(sentence_of([&] {
              const Training<double> training(10, {.workers = 3, .average = Average::weights},
                                              starts);
            }),
            "3 workers cannot start from the parameters of 2");
}

/// Six steps an epoch and a mean every five: between two means, after two epochs as after four.
TYPED_TEST(Workers, ContinueAsIfTheyHadNeverStopped) {
  constexpr Index batch_size = 10;
  const WorkerOptions workers = {.workers = 3, .average = Average::weights, .average_every = 5};
  const Outcome uninterrupted = train_with_workers<TypeParam>(batch_size, workers);
  const Outcome before = train_with_workers<TypeParam>(batch_size, workers, 2);
  EXPECT_GT(distance(before.workers[0], before.workers[1]), 1e-4) << "nothing to be restored";

  const auto continued = [&](std::int64_t steps_done) {
    Training<TypeParam> training(batch_size, workers, before.workers, make_options(1).sgd,
                                 steps_done);
    return finish(training, make_options(batch_size), 3);
  };
  const Outcome after = continued(2 * steps_per_epoch(batch_size));
  ASSERT_EQ(after.history.reports.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::size_t epoch = i + 2;
    EXPECT_EQ(distance(after.history.parameters[i], uninterrupted.history.parameters[epoch]), 0);
    EXPECT_EQ(after.history.reports[i].train_loss, uninterrupted.history.reports[epoch].train_loss);
  }
  for (std::size_t worker = 0; worker < 3; ++worker) {
    EXPECT_EQ(distance(after.workers[worker], uninterrupted.workers[worker]), 0);
  }
  // Whoever forgets how many steps have been taken takes the mean at other moments.
  EXPECT_GT(distance(continued(0).workers[0], uninterrupted.workers[0]), 1e-4);
}

// --------------------------------------------------------------------------------------------- l2

/// After one step, l2 makes a difference of learning rate times l2 times the weight, also of the
/// mean of weights; and none to a bias.
TEST(WorkersL2, AppliesToWeightsAndNeverToBiases) {
  constexpr double learning_rate = 0.25;
  constexpr double l2 = 0.5;
  for (const Average average : {Average::gradients, Average::weights}) {
    std::vector<std::uint32_t> order;
    order_of_epoch(samples, 1, 1, false, order);
    const WorkerOptions workers = {.workers = 3, .average = average};
    const Starts starts = make_starts(workers);
    const auto after_one_step = [&](double with_l2) {
      Training<double> training(samples, workers, starts,
                                {.learning_rate = learning_rate, .l2 = with_l2});
      training.step.begin_epoch(order);
      training.step.run(0, samples);
      training.step.end_epoch();
      return copy_parameters_out(training.network);
    };
    const std::vector<ParameterValues> start = mean_of(starts);
    const std::vector<ParameterValues> without = after_one_step(0);
    const std::vector<ParameterValues> with = after_one_step(l2);
    ASSERT_EQ(with.size(), 6U);
    for (std::size_t i = 0; i < with.size(); ++i) {
      const bool is_bias = with[i].name.ends_with("bias");
      for (std::size_t j = 0; j < with[i].values.size(); ++j) {
        const double decay = is_bias ? 0 : learning_rate * l2 * start[i].values[j];
        EXPECT_NEAR(with[i].values[j], without[i].values[j] - decay, 1e-14) << with[i].name;
      }
    }
  }
}

}  // namespace
}  // namespace stagewise
