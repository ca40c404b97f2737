#include "cross_stage/trainings.hpp"

#include "01_serial/serial_executor.hpp"
#include "data/generators.hpp"
#include "tensor/random.hpp"
#include "verify/compare.hpp"

namespace stagewise::cross_stage {
namespace {

/// Images of a few classes: a pattern each, and noise.
Dataset make_images(const Shape& shape, int classes, Index count) {
  Random random(3);
  std::vector<double> patterns(static_cast<std::size_t>(classes * shape.elements()));
  for (double& value : patterns) value = random.uniform(0, 1);
  std::vector<std::uint8_t> pixels;
  std::vector<std::int32_t> labels;
  for (Index i = 0; i < count; ++i) {
    labels.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(classes))));
    for (Index j = 0; j < shape.elements(); ++j) {
      const double pattern = patterns[static_cast<std::size_t>(labels.back() * shape.elements() + j)];
      pixels.push_back(static_cast<std::uint8_t>(150 * pattern + 100 * random.uniform(0, 1)));
    }
  }
  return {shape, classes, std::move(pixels), std::move(labels)};
}

}  // namespace

std::vector<TrainingCase> training_cases() {
  const Dataset table = make_gaussian({.features = 11, .classes = 4, .spacing = 0.5}, 97, 1, Purpose::training_data);
  const Dataset step = make_step(150, 1, Purpose::training_data);
  const Dataset images = make_images({16, 16, 2}, 3, 23);
  const auto mlp = [&](std::vector<Index> hidden, Activation activation, LossKind loss) {
    return ModelOptions{.hidden = std::move(hidden), .activation = activation, .loss = loss};
  };
  const TrainingOptions options = {
      .batch_size = 10, .epochs = 3, .sgd = {.learning_rate = 0.1, .l2 = 0.001}, .seed = 7};
  TrainingOptions cnn_options = options;
  cnn_options.batch_size = 6;
  cnn_options.epochs = 2;
  cnn_options.sgd.learning_rate = 0.02;
  TrainingOptions momentum = options;
  momentum.sgd.rule = Rule::momentum;
  momentum.sgd.schedule = {.decay = Decay::cosine, .steps = 30};
  TrainingOptions adam = options;
  adam.sgd.rule = Rule::adam;
  adam.sgd.schedule = {.decay = Decay::step, .warmup = 4, .steps = 30};

  std::vector<TrainingCase> cases = {
      {"mlp_sigmoid", mlp({33, 7}, Activation::sigmoid, LossKind::cross_entropy), options, table},
      {"mlp_relu", mlp({20}, Activation::relu, LossKind::cross_entropy), options, table},
      {"mlp_squared_error", mlp({17}, Activation::sigmoid, LossKind::squared_error), options, table},
      {"mlp_no_hidden_layer", mlp({}, Activation::relu, LossKind::cross_entropy), options, table},
      {"momentum", mlp({20}, Activation::sigmoid, LossKind::cross_entropy), momentum, table},
      {"adam", mlp({17}, Activation::sigmoid, LossKind::squared_error), adam, table},
      {"neuron", {.name = "neuron"}, options, step},
      {"cnn", {.name = "cnn"}, cnn_options, images},
      {"cnn_without_biases", {.name = "cnn", .biases = false}, cnn_options, images}};
  for (TrainingCase& one : cases) {
    one.model.sample = one.data.sample_shape();
    one.model.classes = one.data.classes();
  }
  return cases;
}

std::vector<TrainingCase> cases_named(const std::string& beginning) {
  std::vector<TrainingCase> cases;
  for (TrainingCase& one : training_cases()) {
    if (!one.name.starts_with(beginning)) continue;
    one.options.epochs = 2;
    cases.push_back(std::move(one));
  }
  EXPECT_FALSE(cases.empty()) << beginning;
  return cases;
}

Starts starts_of(const Model& model, const TrainingCase& one, const WorkerOptions& workers) {
  const int count = workers.average == Average::weights ? workers.workers : 1;
  Starts starts;
  for (int worker = 0; worker < count; ++worker) {
    starts.push_back(initial_parameters(model, one.model, one.options.seed, static_cast<std::uint64_t>(worker)));
  }
  return starts;
}

template <typename T>
Outcome train_serially(const TrainingCase& one, const WorkerOptions& workers) {
  return train_program<T>(std::make_unique<SerialExecutor<T>>(), one, workers);
}

std::string name_of(const WorkerOptions& workers) {
  return std::to_string(workers.workers) + " workers, " +
         (workers.average == Average::weights ? "weights every " + std::to_string(workers.average_every) : "gradients");
}

template <typename T>
void expect_same_outcome(const Outcome& actual, const Outcome& expected, const std::string& name, double bound) {
  ASSERT_EQ(actual.epochs.size(), expected.epochs.size()) << name;
  for (std::size_t i = 0; i < expected.epochs.size(); ++i) {
    EXPECT_NEAR(actual.epochs[i].train_loss, expected.epochs[i].train_loss, bound * expected.epochs[i].train_loss)
        << name << ", epoch " << i + 1;
    // A network that starts with all outputs at zero, but for rounding, predicts by rounding.
    if (i == 0) continue;
    EXPECT_EQ(actual.epochs[i].train_accuracy, expected.epochs[i].train_accuracy) << name;
  }
  const auto expect_near = [&](const std::vector<ParameterValues>& found, const std::vector<ParameterValues>& wanted,
                               const std::string& who) {
    ASSERT_FALSE(wanted.empty()) << name << who;
    for (const Difference& difference : compare_parameters(found, wanted)) {
      EXPECT_TRUE(difference.within(bound))
          << name << who << ": " << difference.name << " is " << difference.max_norm << " off";
    }
  };
  expect_near(actual.parameters, expected.parameters, "");
  if (actual.optimizer.size() + expected.optimizer.size() > 0) {
    expect_near(actual.optimizer, expected.optimizer, ", the optimizer");
  }
  ASSERT_EQ(actual.workers.size(), expected.workers.size()) << name;
  for (std::size_t i = 0; i < expected.workers.size(); ++i) {
    expect_near(actual.workers[i], expected.workers[i], ", worker " + std::to_string(i));
  }
}

void expect_same_bits(const Outcome& a, const Outcome& b, const std::string& name) {
  const auto expect_equal = [&](const std::vector<ParameterValues>& found, const std::vector<ParameterValues>& wanted) {
    ASSERT_EQ(found.size(), wanted.size()) << name;
    ASSERT_FALSE(found.empty()) << name;
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].values, wanted[i].values) << name << ", " << found[i].name;
    }
  };
  expect_equal(a.parameters, b.parameters);
  ASSERT_EQ(a.workers.size(), b.workers.size()) << name;
  for (std::size_t i = 0; i < a.workers.size(); ++i) expect_equal(a.workers[i], b.workers[i]);
  ASSERT_EQ(a.epochs.size(), b.epochs.size()) << name;
  for (std::size_t i = 0; i < a.epochs.size(); ++i) {
    EXPECT_EQ(a.epochs[i].train_loss, b.epochs[i].train_loss) << name;
    EXPECT_EQ(a.epochs[i].train_accuracy, b.epochs[i].train_accuracy) << name;
    EXPECT_EQ(a.epochs[i].validation_loss, b.epochs[i].validation_loss) << name;
  }
}

template Outcome train_serially<float>(const TrainingCase&, const WorkerOptions&);
template Outcome train_serially<double>(const TrainingCase&, const WorkerOptions&);
template void expect_same_outcome<float>(const Outcome&, const Outcome&, const std::string&, double);
template void expect_same_outcome<double>(const Outcome&, const Outcome&, const std::string&, double);

}  // namespace stagewise::cross_stage
