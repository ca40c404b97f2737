#include "cross_stage/trainings.hpp"

#include <array>

namespace stagewise {
namespace cross_stage {

Dataset make_images(const Shape& shape, int classes, Index count) {
  Random random(3);
  std::vector<double> patterns(static_cast<std::size_t>(classes * shape.elements()));
  for (double& value : patterns) value = random.uniform(0, 1);
  std::vector<std::uint8_t> pixels;
  std::vector<std::int32_t> labels;
  for (Index i = 0; i < count; ++i) {
    labels.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(classes))));
    for (Index j = 0; j < shape.elements(); ++j) {
      const double pattern =
          patterns[static_cast<std::size_t>(labels.back() * shape.elements() + j)];
      pixels.push_back(static_cast<std::uint8_t>(150 * pattern + 100 * random.uniform(0, 1)));
    }
  }
  return {shape, classes, std::move(pixels), std::move(labels)};
}

std::vector<TrainingCase> training_cases() {
  const Dataset table =
      make_gaussian({.features = 11, .classes = 4, .spacing = 0.5}, 97, 1, Purpose::training_data);
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

  std::vector<TrainingCase> cases = {
      {"mlp_sigmoid", mlp({33, 7}, Activation::sigmoid, LossKind::cross_entropy), options, table},
      {"mlp_relu", mlp({20}, Activation::relu, LossKind::cross_entropy), options, table},
      {"mlp_squared_error", mlp({17}, Activation::sigmoid, LossKind::squared_error), options,
       table},
      {"mlp_no_hidden_layer", mlp({}, Activation::relu, LossKind::cross_entropy), options, table},
      {"neuron", {.name = "neuron"}, options, step},
      {"cnn", {.name = "cnn"}, cnn_options, images},
      {"cnn_without_biases", {.name = "cnn", .biases = false}, cnn_options, images}};
  for (TrainingCase& one : cases) {
    one.model.sample = one.data.sample_shape();
    one.model.classes = one.data.classes();
  }
  return cases;
}

template <typename T>
void expect_same_outcome(const Outcome& actual, const Outcome& expected, const std::string& name) {
  const double bound = std::is_same_v<T, float> ? 1e-4 : 1e-10;
  ASSERT_EQ(actual.epochs.size(), expected.epochs.size()) << name;
  for (std::size_t i = 0; i < expected.epochs.size(); ++i) {
    EXPECT_NEAR(actual.epochs[i].train_loss, expected.epochs[i].train_loss,
                bound * expected.epochs[i].train_loss)
        << name << ", epoch " << i + 1;
    // A network that starts with all outputs at zero, but for rounding, predicts by rounding.
    if (i == 0) continue;
    EXPECT_EQ(actual.epochs[i].train_accuracy, expected.epochs[i].train_accuracy) << name;
  }
  for (const Difference& difference : compare_parameters(actual.parameters, expected.parameters)) {
    EXPECT_TRUE(difference.within(bound))
        << name << ": " << difference.name << " is " << difference.max_norm << " off";
  }
  ASSERT_FALSE(expected.parameters.empty());
}

template void expect_same_outcome<float>(const Outcome&, const Outcome&, const std::string&);
template void expect_same_outcome<double>(const Outcome&, const Outcome&, const std::string&);

}  // namespace cross_stage

namespace {

template <typename T>
class Trainings : public StageTest<T> {
 public:
  using Check = void (Trainings::*)();

  Trainings(ComparedStage<T> stage, Check check) : StageTest<T>(std::move(stage)), check_(check) {}

  void equal_those_of_stage_01();
  void repeat_themselves_bit_for_bit();

  static constexpr std::array checks = {
      std::pair{"EqualThoseOfStage01", &Trainings::equal_those_of_stage_01},
      std::pair{"RepeatThemselvesBitForBit", &Trainings::repeat_themselves_bit_for_bit}};

 private:
  void TestBody() override { (this->*check_)(); }

  Check check_;
};

template <typename T>
void Trainings<T>::equal_those_of_stage_01() {
  for (const cross_stage::TrainingCase& one : cross_stage::training_cases()) {
    cross_stage::expect_same_outcome<T>(
        cross_stage::train_program<T>(this->stage_.make(), one),
        cross_stage::train_program<T>(std::make_unique<SerialExecutor<T>>(), one), one.name);
  }
}

template <typename T>
void Trainings<T>::repeat_themselves_bit_for_bit() {
  for (const cross_stage::TrainingCase& one : cross_stage::training_cases()) {
    if (one.name.ends_with("without_biases")) continue;  // long enough with the other
    const auto run = [&] { return cross_stage::train_program<T>(this->stage_.make(), one); };
    const cross_stage::Outcome first = run();
    const cross_stage::Outcome second = run();
    ASSERT_EQ(first.parameters.size(), second.parameters.size());
    for (std::size_t i = 0; i < first.parameters.size(); ++i) {
      EXPECT_EQ(first.parameters[i].values, second.parameters[i].values) << one.name;
    }
  }
}

}  // namespace

int register_trainings(const std::string& name, const ComparedStage<float>& in_float,
                       const ComparedStage<double>& in_double) {
  register_checks<Trainings>(name + "/Trainings/", in_float, in_double);
  return 0;
}

}  // namespace stagewise
