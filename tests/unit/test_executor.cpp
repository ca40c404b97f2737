/// @file
/// What executors do whatever the stage: memory, batches and parts of them, lines that are measured
/// or fused. Stage 01 stands for all.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "network/differentiate.hpp"
#include "network/workers.hpp"
#include "support.hpp"
#include "unit/execution.hpp"

namespace stagewise {
namespace {

using Values = std::vector<double>;

// ------------------------------------------------------------------- what lines read and write

/// The bytes of everything that is in the executor's memory, by value.
using Memories = std::map<ValueId, std::vector<std::byte>>;

Memories memories_of(Execution& run, Index rows) {
  Memories memories;
  for (int i = 0; i < static_cast<int>(run.program.values.size()); ++i) {
    const Value& value = run.program[ValueId{i}];
    const bool is_root = run.program.memory_of({i}) == ValueId{i};
    const auto* const there = run.executor.data<std::byte>({i});
    if (!is_root || value.role == Role::data || there == nullptr) continue;
    const auto bytes = static_cast<std::size_t>(elements_of(value, rows)) * bytes_of(value.type, sizeof(double));
    memories[{i}] = {there, there + bytes};
  }
  return memories;
}

/// Executes line by line: each changes what it says it writes, and computes the same where nothing
/// is there but what it says it reads.
void expect_operands_to_be_all(const ModelOptions& options, const WorkerOptions& workers) {
  constexpr Index rows = 7;
  const TrainingPrograms training = build_training(build_model(options), {.l2 = 0.5}, workers);
  Program all = training.step;
  all.lines.insert(all.lines.end(), training.take_over.lines.begin(), training.take_over.lines.end());
  Execution run(options, all, rows);
  const auto has = [&](const std::vector<ValueId>& values, ValueId root) {
    return std::any_of(values.begin(), values.end(), [&](ValueId id) { return all.memory_of(id) == root; });
  };
  for (const Line& line : all.lines) {
    SCOPED_TRACE(text_of(all, line.operation));
    Program one;
    one.values = all.values;
    one.lines = {line};
    const std::vector<ValueId> read = read_by(line.operation);
    const std::vector<ValueId> written = written_by(line.operation);
    const Memories before = memories_of(run, rows);
    run.executor.execute(one, {.first = 3, .rows = rows});
    const Memories after = memories_of(run, rows);
    for (const auto& [id, bytes] : before) {
      auto* const there = run.executor.data<std::byte>(id);
      if (!has(written, id)) {
        EXPECT_EQ(after.at(id), bytes) << all[id].name;
      }
      if (has(read, id)) {
        std::copy(bytes.begin(), bytes.end(), there);
      } else {
        std::memset(there, 0xff, bytes.size());  // NaN
      }
    }
    run.executor.execute(one, {.first = 3, .rows = rows});
    const Memories again = memories_of(run, rows);
    for (const auto& [id, bytes] : after) {
      if (has(written, id)) {
        EXPECT_EQ(again.at(id), bytes) << all[id].name;
      }
      std::copy(bytes.begin(), bytes.end(), run.executor.data<std::byte>(id));
    }
  }
}

TEST(Lines, ReadAndWriteWhatTheySay) {
  const std::vector<ModelOptions> models = {
      {.hidden = {7, 5}, .sample = {3, 2, 1}, .classes = 4},
      {.hidden = {7}, .activation = Activation::sigmoid, .loss = LossKind::squared_error, .sample = {6}, .classes = 4},
      {.name = "neuron", .sample = {3}, .classes = 2},
      {.name = "cnn", .sample = {16, 16, 1}, .classes = 3}};
  for (const ModelOptions& options : models) {
    for (const WorkerOptions& workers :
         {WorkerOptions(), {.workers = 3}, {.workers = 3, .average = Average::weights}}) {
      SCOPED_TRACE(options.name + ", " + std::to_string(workers.workers) + " workers");
      expect_operands_to_be_all(options, workers);
    }
  }
}

// ----------------------------------------------------------------------------------------- memory

const ModelOptions small = {.hidden = {5}, .sample = {4}, .classes = 3};

/// Everything in place counts once, gradients only where they are computed.
TEST(Executor, AllocatesWhatTheLinesUseOnce) {
  const Model model = build_model(small);
  constexpr std::size_t rows = 10;
  const std::size_t parameters = (4 * 5 + 5 + 5 * 3 + 3) * sizeof(double);
  const std::size_t of_a_sample = (4 + 5 + 3 + 3 + 1) * sizeof(double) + 2 * sizeof(std::int32_t);  // two of classes
  const std::size_t forward = parameters + rows * of_a_sample + sizeof(Totals);
  const std::size_t gradients = parameters + rows * (3 + 5) * sizeof(double);

  ObservedExecutor<double> executor;
  std::vector<double> announced;
  const auto load = [&](const Program& program) {
    executor.load(program, rows, [&](double bytes) {
      const double before = std::accumulate(announced.begin(), announced.end(), 0.0);
      EXPECT_EQ(static_cast<double>(executor.counter().bytes()), before) << "announced too late";
      announced.push_back(bytes);
    });
    return executor.counter().bytes();
  };
  EXPECT_EQ(load(model.program), forward);
  EXPECT_EQ(load(differentiate(model.program, model.row_losses).program), forward + gradients);
  EXPECT_EQ(load(model.program), forward + gradients) << "all is there";
  EXPECT_EQ(announced, (Values{static_cast<double>(forward), static_cast<double>(gradients), 0}));
  EXPECT_EQ(executor.max_rows(), 10);
}

/// Memory with little room.
class SmallMemory final : public Memory {
 public:
  void* allocate(std::size_t /*bytes*/, CodeLine /*asker*/) override {
    ADD_FAILURE() << "something was allocated";
    return nullptr;
  }
  void release(void* /*pointer*/) noexcept override {}
  Room room() const override { return {.bytes = 1000, .of = "the drawer"}; }
};

struct HasSmallMemory {
  SmallMemory small_memory;
};

class SmallExecutor final : private HasSmallMemory, public SerialExecutor<double> {
 public:
  Memory& memory() override { return small_memory; }
};

TEST(Executor, RefusesWhatDoesNotFitBeforeItAllocates) {
  SmallExecutor executor;
  expect_contains(sentence_of([&] { executor.load(build_model(small).program, 1000); }),
                  "the network, for a batch of 1,000 samples, needs at least ");
  const std::string sentence = sentence_of([&] { executor.load(build_model(small).program, 1000); });
  expect_contains(sentence, " of the drawer are free; a smaller network or --batch-size needs less");
}

TEST(Executor, RefusesABatchLargerThanItWasLoadedFor) {
  Execution run(small, build_model(small).program, 5);
  EXPECT_NO_THROW(run.executor.execute(run.program, {.rows = 5}));
  EXPECT_EQ(sentence_of([&] { run.executor.execute(run.program, {.rows = 6}); }),
            "a batch of 6 samples does not fit into a network loaded for 5");
}

TEST(Executor, RefusesAnotherNetworksProgram) {
  ObservedExecutor<double> executor;
  executor.load(build_model(small).program, 10);
  ModelOptions other = small;
  other.biases = false;
  EXPECT_EQ(logic_error_of([&] { executor.load(build_model(other).program, 10); }),
            "this executor has loaded another program, with fc1/bias for fc1/product");
}

TEST(Executor, UsesABatchThatIsElsewhereUntilTold) {
  const Model model = build_model(small);
  const Program prediction = model.prediction();
  Execution run(small, prediction, 6);
  Values here = random_values<double>(Index{6} * 4, 76);
  Values elsewhere = random_values<double>(Index{6} * 4, 77);
  const auto outputs = [&] {
    run.executor.execute(prediction, {.rows = 6});
    return run.get("fc2/output", 6);
  };
  std::copy(elsewhere.begin(), elsewhere.end(), run.executor.data(model.batch));
  const Values expected = outputs();
  std::copy(here.begin(), here.end(), run.executor.data(model.batch));
  const Values own = outputs();
  run.executor.bind(model.batch, elsewhere.data());
  EXPECT_EQ(run.executor.data(model.batch), elsewhere.data());
  EXPECT_EQ(outputs(), expected);
  EXPECT_NE(own, expected);
  run.executor.bind(model.batch, nullptr);
  EXPECT_EQ(outputs(), own);
}

// ------------------------------------------------------------------------------------ the batch

/// What a batch does not fill stays NaN, and changes nothing.
TEST(Executor, SmallerBatchGivesWhatANetworkOfThatSizeGives) {
  const Model model = build_model(small);
  const Differentiated both = differentiate(model.program, model.row_losses);
  const auto run = [&](Index max_rows, Index rows) {
    Execution one(small, both.program, max_rows);
    one.executor.execute(both.program, {.first = 2, .rows = rows});
    Values result;
    for (const char* const name :
         {"row losses", "fc2/output", "d fc1/weight", "d fc1/bias", "d fc2/weight", "d fc2/bias"}) {
      const Values values = one.get(name, rows);
      result.insert(result.end(), values.begin(), values.end());
    }
    const auto* const classes = one.executor.data<std::int32_t>(model.classes);
    result.insert(result.end(), classes, classes + rows);
    result.push_back(one.executor.data<Totals>(model.totals)->loss);
    return result;
  };
  const Values exact = run(3, 3);
  EXPECT_TRUE(std::all_of(exact.begin(), exact.end(), [](double x) { return std::isfinite(x); }));
  EXPECT_EQ(run(7, 3), exact);
}

/// More samples than a batch usually has, from the middle of an order.
TEST(Executor, GathersEverySampleInItsOrder) {
  constexpr Index rows = 2500;
  const ModelOptions options = {.hidden = {5}, .sample = {3, 2, 1}, .classes = 4};
  const Dataset data = random_data(options.sample, options.classes, rows + 10);
  const std::vector<std::uint32_t> order = shuffled(data.size());
  Network<float> network = make_network<float>(options, rows);
  reset_totals(*network.executor, {network.model.totals});
  network.executor->read_from(data, order);
  network.executor->execute(network.model.program, {.first = 10, .rows = rows});
  const std::span<const std::uint32_t> batch = std::span(order).subspan(10);
  std::vector<float> features(static_cast<std::size_t>(rows * options.sample.elements()));
  data.gather(batch, features.data());
  EXPECT_TRUE(std::equal(features.begin(), features.end(), network.executor->data(network.model.batch)));
  const auto* const labels = network.executor->data<std::int32_t>(network.model.batch_labels);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    ASSERT_EQ(labels[i], data.labels()[batch[i]]) << "row " << i;
  }
}

// ------------------------------------------------------------------------------ single operations

template <typename T>
class Together : public testing::Test {};
TYPED_TEST_SUITE(Together, Precisions, PrecisionNames);

/// Sums in the order of the terms and copies, the other stages' primitives prove.
TYPED_TEST(Together, MeansAreOfDoubles) {
  using T = TypeParam;
  constexpr Index n = 131;
  Workbench<T> bench;
  Mean mean;
  std::vector<double> sums(n);
  for (std::uint64_t i = 0; i < 3; ++i) {
    const std::vector<T> term = random_values<T>(n, 20 + i);
    for (std::size_t k = 0; k < n; ++k) sums[k] += double{term[k]};
    mean.terms.emplace_back(bench.add_parameter("term " + std::to_string(i), term, {n}));
  }
  mean.mean = bench.program.add({.name = "mean", .shape = {n}});
  bench.program.append(mean);
  bench.run(bench.program, 1);
  std::vector<T> expected;
  for (const double sum : sums) expected.push_back(static_cast<T>(sum / 3));
  EXPECT_EQ(bench.get(bench.program, mean.mean, 1), expected);
}

/// A worker without samples takes no step, not even one of l2.
TEST(Executor, UpdatesNothingOfAWorkerWithoutSamples) {
  const TrainingPrograms training =
      build_training(build_model(small), {.learning_rate = 1, .l2 = 1}, {.workers = 3, .average = Average::weights});
  Execution run(small, training.step, 10);
  const auto weight = [&](int worker) { return run.get("fc1/weight@" + std::to_string(worker), 1); };
  const Values second = weight(1);
  const Values third = weight(2);
  run.executor.execute(training.step, {.rows = 2});
  EXPECT_NE(weight(1), second);
  EXPECT_EQ(weight(2), third);
}

TEST(Executor, RefusesToReduceOverProcessesThatAreNotThere) {
  Workbench<double> bench;
  const ValueId weight = bench.add_parameter("weight", {1, 2}, {1, 2});
  bench.program.append(AllReduce{.values = {weight}});
  EXPECT_EQ(logic_error_of([&] { bench.run(bench.program, 1); }), "a program for several processes is executed by one");
}

// ------------------------------------------------------------------------------ fused and measured

TEST(Executor, HasATimingForEachLine) {
  const Program step = build_training(build_model(small), {}, {}).step;
  Execution run(small, step, 6);
  run.executor.execute(step, {.rows = 6});
  EXPECT_TRUE(run.executor.timings().empty());
  EXPECT_FALSE(run.executor.measures());
  run.executor.enable_timings();
  run.executor.execute(step, {.rows = 6});
  run.executor.execute(step, {.rows = 6});
  run.executor.run_timed("something else", [] {});
  run.executor.enable_timings(false);
  run.executor.execute(step, {.rows = 6});
  int called = 0;
  run.executor.run_timed("something else", [&] { ++called; });
  EXPECT_EQ(called, 1);
  const std::vector<std::string> texts = texts_of(step);
  const std::vector<Timing>& timings = run.executor.timings();
  ASSERT_EQ(timings.size(), texts.size() + 1);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(timings[i].operation, texts[i]);
    EXPECT_EQ(timings[i].calls, 2);
    EXPECT_GT(timings[i].first_seconds, 0);
    EXPECT_GT(timings[i].seconds, timings[i].first_seconds);
    EXPECT_EQ(timings[i].is_backward, i >= 9);
    const Cost cost = cost_of(step, step.lines[i], 6, sizeof(double));
    EXPECT_EQ(timings[i].cost.bytes, 2 * cost.bytes) << texts[i];
    EXPECT_EQ(timings[i].cost.operations, 2 * cost.operations) << texts[i];
  }
  EXPECT_EQ(timings.back().operation, "something else");
  EXPECT_EQ(timings.back().calls, 1);
  EXPECT_EQ(timings.back().cost.bytes, 0);
}

}  // namespace
}  // namespace stagewise
