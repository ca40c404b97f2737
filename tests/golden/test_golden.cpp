/// @file
/// Stage 01 in double computes what PyTorch computes, to rounding: trainings whose every number
/// PyTorch has computed beforehand (make_golden.py says how).

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "01_serial/serial_executor.hpp"
#include "cross_stage/trainings.hpp"
#include "io/checkpoint.hpp"
#include "network/differentiate.hpp"
#include "training/trainer.hpp"
#include "verify/compare.hpp"

namespace stagewise {
namespace {

using namespace cross_stage;

/// Rounding in double, added up over a short training.
constexpr double bound = 1e-10;

using Parameters = std::vector<ParameterValues>;

std::unique_ptr<Executor<double>> serial_executor(const std::string& gemm_variant = "reordered") {
  return std::make_unique<SerialExecutor<double>>(serial::parse_gemm_variant(gemm_variant));
}

/// What make_golden.py wrote.
struct File {
  explicit File(const std::string& name)
      : checkpoint(load_checkpoint(std::filesystem::path(STAGEWISE_GOLDEN_DIR) / (name + ".h5"))) {}

  const std::string& text(const std::string& key) const { return checkpoint.settings.at(key); }
  double number(const std::string& key) const { return std::stod(text(key)); }
  Index whole(const std::string& key) const { return std::stoi(text(key)); }

  /// Those whose names begin like this, without the beginning.
  Parameters of(const std::string& prefix) const {
    Parameters result;
    for (const ParameterValues& stored : checkpoint.parameters) {
      if (!stored.name.starts_with(prefix)) continue;
      result.push_back(stored);
      result.back().name.erase(0, prefix.size());
    }
    return result;
  }

  /// Where PyTorch arrived.
  Parameters expected() const {
    Parameters result = checkpoint.parameters;
    std::erase_if(result, [](const ParameterValues& one) {
      return !one.name.starts_with("gradient/") && !one.name.starts_with("expected/") && !one.name.starts_with("end/");
    });
    return result;
  }

  std::vector<std::int32_t> labels() const {
    const std::vector<double> values = of("data/labels").front().values;
    return {values.begin(), values.end()};  // NOLINT(*-narrowing-*): whole numbers
  }

  TrainingOptions options() const {
    TrainingOptions result = {.batch_size = whole("batch-size"),
                              .epochs = checkpoint.epoch,
                              .sgd = {.learning_rate = number("learning-rate"), .l2 = number("l2")}};
    result.shuffle = false;
    return result;
  }

  Checkpoint checkpoint;
};

// ------------------------------------------------------------------------------------------- mlps

/// A training: what to train on, and from where.
struct Case {
  explicit Case(const std::string& name) : file(name), options(file.options()) {
    const ParameterValues x = file.of("data/x").front();
    model = {.name = file.checkpoint.model,
             .hidden = {},
             .activation = parse_activation(file.text("activation")),
             .loss = parse_loss(file.text("loss")),
             .classes = static_cast<int>(file.whole("classes"))};
    model.sample = Shape{x.shape[x.shape.rank() - 1]};
    for (int i = x.shape.rank() - 2; i > 0; --i) model.sample = model.sample.batched(x.shape[i]);
    std::istringstream hidden(file.text("hidden"));
    for (std::string width; std::getline(hidden, width, ',');) {
      model.hidden.push_back(std::stoi(width));
    }
    data = Dataset(model.sample, model.classes, x.values, file.labels());

    if (file.checkpoint.settings.contains("optimizer")) set_optimizer();
    starts = {file.of("initial/")};
    if (file.checkpoint.settings.contains("average-every")) {
      workers = {.workers = 3, .average = Average::weights, .average_every = file.whole("average-every")};
      starts = {file.of("start/1/"), file.of("start/2/"), file.of("start/3/")};
    }
  }

  void set_optimizer() {
    Sgd& sgd = options.sgd;
    const std::string& rule = file.text("optimizer");
    const std::string& decay = file.text("schedule");
    sgd.rule = rule == "adam" ? Rule::adam : rule == "momentum" ? Rule::momentum : Rule::sgd;
    sgd.momentum = file.number("momentum");
    sgd.beta1 = file.number("beta1");
    sgd.beta2 = file.number("beta2");
    sgd.epsilon = file.number("epsilon");
    sgd.schedule = {.decay = decay == "cosine" ? Decay::cosine
                             : decay == "step" ? Decay::step
                                               : Decay::constant,
                    .warmup = file.whole("warmup"),
                    .steps = file.checkpoint.step};
  }

  File file;
  ModelOptions model;
  TrainingOptions options;
  WorkerOptions workers;
  Dataset data;
  Starts starts;  ///< one, or each worker's own
};

void append(Parameters& all, const std::string& prefix, const Parameters& some) {
  for (const ParameterValues& one : some) all.push_back({prefix + one.name, one.shape, one.values});
}

void append_losses(Parameters& all, const std::vector<double>& losses) {
  all.push_back({"expected/losses", {std::ssize(losses)}, losses});
}

/// Where a training of ours arrives: parameters, the losses of the epochs, and the workers'
/// parameters, if they have their own.
Parameters train_on(std::unique_ptr<Executor<double>> executor, const Case& golden) {
  Network<double> network(build_model(golden.model), std::move(executor));
  network.load(golden.options.batch_size);
  const auto step = make_program_step(network, golden.data, golden.options, golden.starts, golden.workers);
  OutcomeRecorder recorder;
  train(network, *step, golden.data, Dataset(), golden.options, 1, recorder);
  Parameters result;
  append(result, "expected/", recorder.outcome.parameters);
  std::vector<double> losses;
  for (const EpochReport& epoch : recorder.outcome.epochs) losses.push_back(epoch.train_loss);
  append_losses(result, losses);
  int number = 0;
  for (const Parameters& worker : step->worker_parameters()) {
    append(result, "end/" + std::to_string(++number) + "/", worker);
  }
  return result;
}

const std::vector<std::string> case_names = {"relu_cross_entropy_l2",
                                             "sigmoid_cross_entropy",
                                             "sigmoid_squared_error",
                                             "relu_squared_error_l2",
                                             "no_hidden_layer_l2",
                                             "neuron",
                                             "momentum_l2",
                                             "adam_l2",
                                             "sgd_step",
                                             "momentum_cosine",
                                             "adam_warmup",
                                             "workers_average_weights",
                                             "workers_average_weights_adam"};

// ------------------------------------------------------------------------------------------- cnns

/// uniform() of make_golden.py: numbers in (-1, 1), the same to the last bit on any machine.
std::vector<double> lehmer_uniform(std::uint32_t seed, Index count) {
  std::minstd_rand random(seed);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) value = 2 * (static_cast<double>(random()) / 2147483647) - 1;
  return values;
}

constexpr Index summary_length = 62;

/// summary() of make_golden.py: length, scalar product with known numbers, some elements.
std::vector<double> summary(std::uint32_t number, const std::vector<double>& values) {
  const auto weights = lehmer_uniform(300 + number, static_cast<Index>(values.size()));
  std::vector<double> result = {std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0)),
                                std::inner_product(values.begin(), values.end(), weights.begin(), 0.0)};
  std::minstd_rand random(200 + number);
  while (std::ssize(result) < summary_length) result.push_back(values[random() % values.size()]);
  return result;
}

/// Three steps of the convolutional network. Its parameters would fill a large file: they start
/// from numbers that both sides compute, and are compared by their summaries, as are the gradients
/// of the first step.
struct CnnCase {
  explicit CnnCase(const std::string& name) : file(name) {
    model = {.name = "cnn",
             .biases = file.text("biases") == "on",
             .sample = {file.whole("height"), file.whole("width"), file.whole("channels")},
             .classes = static_cast<int>(file.whole("classes"))};
    const Model its = build_model(model);
    for (const ValueId id : its.parameters) {
      const Shape& shape = its[id].shape;
      const Index inputs = shape.elements() / shape[shape.rank() - 1];
      const double limit = its[id].role == Role::bias ? 0.1 : std::sqrt(6 / static_cast<double>(inputs));
      start.push_back({its[id].name, shape, {}});
      start.back().values = lehmer_uniform(static_cast<std::uint32_t>(start.size()), shape.elements());
      for (double& value : start.back().values) value *= limit;
    }
  }

  Parameters train_on(std::unique_ptr<Executor<double>> executor) const {
    const TrainingOptions options = file.options();
    const auto labels = file.labels();
    const auto count = static_cast<Index>(labels.size());
    const Dataset data(model.sample, model.classes, lehmer_uniform(100, count * model.sample.elements()), labels);
    Network<double> network(build_model(model), std::move(executor));
    const auto step = make_program_step(network, data, options, {start});
    const Differentiated both = differentiate(network.model.program, network.model.row_losses);
    std::vector<ValueId> gradients;
    for (const ValueId id : network.model.parameters) gradients.push_back(both.gradient_of(id));
    std::vector<std::uint32_t> order(labels.size());
    std::iota(order.begin(), order.end(), 0U);

    Parameters result;
    std::vector<double> losses;
    const auto summarize = [&](const Parameters& all, const std::string& prefix) {
      std::uint32_t number = 0;
      for (const ParameterValues& one : all) {
        result.push_back({prefix + one.name, {summary_length}, summary(++number, one.values)});
      }
    };
    for (Index first = 0; first < count; first += options.batch_size) {
      step->begin_epoch(order);  // an epoch a step: its totals are then the step's own
      step->run(first, options.batch_size);
      losses.push_back(step->totals().loss / static_cast<double>(options.batch_size));
      if (first == 0) summarize(copy_parameters_out(network, gradients), "gradient/");
    }
    summarize(copy_parameters_out(network), "expected/");
    append_losses(result, losses);
    return result;
  }

  File file;
  ModelOptions model;
  Parameters start;  ///< where PyTorch started, too
};

const std::vector<std::string> cnn_case_names = {"cnn_with_biases", "cnn_without_biases"};

/// How far apart PyTorch and we arrive, each parameter, gradient and list of losses relative to the
/// largest value in it.
std::vector<Difference> differences(const Case& golden, const std::string& gemm = "reordered") {
  return compare_parameters(train_on(serial_executor(gemm), golden), golden.file.expected());
}
std::vector<Difference> differences(const CnnCase& golden, const std::string& gemm = "reordered") {
  return compare_parameters(golden.train_on(serial_executor(gemm)), golden.file.expected());
}

/// Every form of GEMM on every training.
class Golden : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(Golden, EqualsPyTorch) {
  const auto& [gemm, name] = GetParam();
  for (const Difference& difference :
       name.starts_with("cnn") ? differences(CnnCase(name), gemm) : differences(Case(name), gemm)) {
    EXPECT_TRUE(difference.within(bound))
        << difference.name << " is " << difference.max_norm << " off: " << difference.a << " instead of "
        << difference.b << " at element " << difference.worst;
  }
}

const auto gemms = testing::ValuesIn(serial::gemm_variant_names());
const auto name_of = [](const testing::TestParamInfo<Golden::ParamType>& test) {
  return std::get<0>(test.param) + "_" + std::get<1>(test.param);
};
INSTANTIATE_TEST_SUITE_P(Mlps, Golden, testing::Combine(gemms, testing::ValuesIn(case_names)), name_of);
INSTANTIATE_TEST_SUITE_P(Cnns, Golden, testing::Combine(gemms, testing::ValuesIn(cnn_case_names)), name_of);

// -------------------------------------------------------------------------- tests of the test

/// Also, that the training depends on every parameter.
TEST(GoldenTest, NoticesAnotherStart) {
  for (const std::string& name : case_names) {
    Case golden(name);
    golden.starts.back().back().values.back() += 1e-7;
    EXPECT_GT(largest_difference(differences(golden)), 1e-9) << name;
  }
  for (const std::string& name : cnn_case_names) {
    CnnCase golden(name);
    golden.start[2].values[77] += 1e-6;  // one of up to 51,200
    EXPECT_GT(largest_difference(differences(golden)), 1e-9) << name;
  }
}

/// A file in which training changes next to nothing would prove next to nothing.
TEST(GoldenTest, EveryTrainingChangesEveryParameter) {
  for (const std::string& name : case_names) {
    const Case golden(name);
    Parameters arrival = golden.file.of("expected/");
    std::erase_if(arrival, [](const ParameterValues& one) { return one.name == "losses"; });
    for (const Difference& difference : compare_parameters(golden.starts.front(), arrival)) {
      EXPECT_GT(difference.max_norm, 1e-2) << name << ": " << difference.name;
    }
  }
  for (const std::string& name : cnn_case_names) {
    for (const ParameterValues& one : CnnCase(name).file.expected()) {
      EXPECT_GT(one.values.front(), 1e-3) << "nothing is compared of " << one.name;
    }
  }
}

}  // namespace
}  // namespace stagewise
