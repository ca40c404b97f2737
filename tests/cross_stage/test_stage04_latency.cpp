/// @file
/// The ways in which stage 04 answers one batch: the classes are those of stage 01.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "01_serial/serial_executor.hpp"
#include "04_minibatch/fuse/fuse.hpp"
#include "04_minibatch/recorded_prediction.hpp"
#include "cli/latency.hpp"
#include "cross_stage/gpu_test.hpp"
#include "cuda/handles.hpp"
#include "data/generators.hpp"
#include "ladders/persistent/latency/persistent_prediction.hpp"
#include "ladders/persistent/latency/predictors.hpp"
#include "support.hpp"
#include "tensor/random.hpp"
#include "training/parameters.hpp"

namespace stagewise {
namespace {

using minibatch::make_persistent_prediction;
using minibatch::PersistentPrediction;
using minibatch::RecordedPrediction;

/// A network, and samples to answer.
struct Question {
  std::string name;
  ModelOptions model;
  Dataset data;
};

Dataset make_table(Index features, int classes, Index samples = 30) {
  return make_gaussian({.features = features, .classes = classes, .spacing = 0.2}, samples, 1, Purpose::test_data);
}

std::vector<Question> questions() {
  const auto mlp = [](std::vector<Index> hidden, Activation activation, bool biases = true,
                      LossKind loss = LossKind::cross_entropy) {
    return ModelOptions{.hidden = std::move(hidden), .activation = activation, .loss = loss, .biases = biases};
  };
  constexpr Activation relu = Activation::relu;
  constexpr Activation sigmoid = Activation::sigmoid;
  std::vector<Question> all = {{"relu", mlp({33, 7}, relu), make_table(11, 4)},
                               {"sigmoid", mlp({7, 33}, sigmoid), make_table(11, 4)},
                               {"sigmoid_outputs", mlp({17}, sigmoid, true, LossKind::squared_error), make_table(5, 3)},
                               {"no_hidden_layer", mlp({}, relu), make_table(11, 4)},
                               {"no_hidden_layer_no_bias", mlp({}, relu, false), make_table(300, 33)},
                               {"no_biases", mlp({20, 9}, relu, false), make_table(11, 4)},
                               {"one_feature", mlp({7}, sigmoid), make_table(1, 2)},
                               {"one_unit", mlp({1, 300}, sigmoid), make_table(7, 3)},
                               {"narrow_behind_wide", mlp({300, 1, 33}, sigmoid), make_table(7, 3)},
                               {"wide", mlp({300}, relu), make_table(1000, 10)},
                               {"weights_partly_kept", mlp({300, 300, 300, 300}, relu), make_table(300, 4)},
                               {"weights_not_kept", mlp({}, relu), make_table(6000, 10)},
                               {"weights_not_kept_no_bias", mlp({}, relu, false), make_table(6000, 10)},
                               {"as_deep_as_can_be", mlp(std::vector<Index>(15, 12), sigmoid), make_table(6, 3)},
                               {"neuron", {.name = "neuron"}, make_step(30, 1, Purpose::test_data)}};
  for (Question& one : all) {
    one.model.sample = one.data.sample_shape();
    one.model.classes = one.data.classes();
  }
  return all;
}

/// Large random parameters, biases included: a network that a training starts from hardly tells the
/// samples apart. Biases behind a sigmoid layer make up for its outputs' mean, 0.5.
template <typename T>
void set_parameters(Network<T>& network, const ModelOptions& model) {
  Random random(5);
  std::vector<ParameterValues> values = copy_parameters_out(network);
  std::vector<double> weights;  // of the layer
  for (ParameterValues& parameter : values) {
    const bool is_bias = parameter.shape.rank() == 1;
    const Index fan_in = parameter.shape[0];
    const double scale = is_bias ? 0.3 : 8 / std::sqrt(static_cast<double>(fan_in));
    for (double& value : parameter.values) value = scale * random.normal();
    if (model.name == "neuron") {
      parameter.values[0] = is_bias ? -3 : 8;  // its step is within the data
    } else if (is_bias && model.activation == Activation::sigmoid && &parameter > &values[1]) {
      const std::size_t units = parameter.values.size();
      for (std::size_t i = 0; i < weights.size(); ++i) {
        parameter.values[i % units] -= 0.5 * weights[i];
      }
    }
    if (!is_bias) weights = parameter.values;
  }
  copy_parameters_in(network, values, "the test");
}

/// A network on stage 04, fused as its command line does.
template <typename T>
Network<T> make_network(const ModelOptions& model, Index rows) {
  Network<T> network(build_model(model), std::make_unique<MinibatchExecutor<T>>(),
                     [&](const Program& program) { return minibatch::fuse<T>(program, rows); });
  network.load(rows);
  return network;
}

/// A network on stage 04, and what stage 01 answers.
template <typename T>
class Subject {
 public:
  explicit Subject(const Question& question, Index rows = 1)
      : question_(&question), network_(make_network<T>(question.model, rows)) {
    set_parameters(network_, question.model);
    Network<T> reference(build_model(question.model), std::make_unique<SerialExecutor<T>>());
    reference.load(rows);
    set_parameters(reference, question.model);
    EagerPredictor<T> eager(reference);
    expected_ = answers_of(eager);
  }

  Network<T>& network() { return network_; }
  const cuda::Stream& stream() const { return static_cast<MinibatchExecutor<T>&>(*network_.executor).main_stream(); }
  const std::vector<std::int32_t>& expected() const { return expected_; }

  std::vector<std::int32_t> answers_of(Predictor<T>& predictor) const {
    const Dataset& data = question_->data;
    std::vector<std::int32_t> answers;
    std::vector<std::int32_t> classes(static_cast<std::size_t>(predictor.rows()), -1);
    for (Index first = 0; first + predictor.rows() <= data.size(); first += predictor.rows()) {
      std::vector<std::uint32_t> batch(classes.size());
      std::iota(batch.begin(), batch.end(), static_cast<std::uint32_t>(first));
      predictor.take(data, batch);
      predictor.predict(classes.data());
      answers.insert(answers.end(), classes.begin(), classes.end());
    }
    return answers;
  }

 private:
  const Question* question_;
  Network<T> network_;
  std::vector<std::int32_t> expected_;
};

template <typename T>
class Stage04Latency : public GpuTest {};

TYPED_TEST_SUITE(Stage04Latency, Precisions, PrecisionNames);

/// What `subject` answers in each way, which must be what stage 01 does. From the last way on, as
/// the program takes them away again: while the persistent kernel runs, nothing must wait for the
/// GPU.
/// @return their names.
template <typename T>
std::vector<std::string> expect_stage01s_answers(Subject<T>& subject, const std::string& what) {
  std::vector<std::string> names;
  auto predictors = minibatch::make_all_predictors(subject.network());
  for (; !predictors.empty(); predictors.pop_back()) {
    Predictor<T>& predictor = *predictors.back();
    names.insert(names.begin(), predictor.name());
    for (int round = 0; round < 2; ++round) {
      EXPECT_EQ(subject.answers_of(predictor), subject.expected())
          << what << ", " << predictor.name() << ", round " << round;
    }
  }
  return names;
}

TYPED_TEST(Stage04Latency, AnswersAreStage01s) {
  const Dataset digits = make_digits(4, 1, Purpose::test_data);
  std::vector<Question> all = questions();
  all.push_back({"cnn", {.name = "cnn", .sample = digits.sample_shape(), .classes = 10}, digits});
  for (const Question& question : all) {
    for (const Index rows : {1, question.name == "cnn" ? 4 : 7}) {
      if (rows > 1 && question.name.starts_with("weights")) continue;  // for the persistent kernel
      Subject<TypeParam> subject(question, rows);
      std::vector<std::string> names = {"captured", "streamed", "device"};
      if (rows == 1 && question.name != "cnn") names.emplace_back("persistent");
      EXPECT_EQ(expect_stage01s_answers(subject, question.name), names) << question.name;
      const std::set<std::int32_t> classes(subject.expected().begin(), subject.expected().end());
      EXPECT_GE(classes.size(), 2U) << question.name << " has one answer only";
    }
  }
}

/// More samples than a part has: whole parts, and a shorter one.
TYPED_TEST(Stage04Latency, StreamedAnswersComeInParts) {
  Question question = questions().front();
  question.data = make_table(11, 4, 3100);
  Subject<TypeParam> subject(question, question.data.size());
  const auto predictors = minibatch::make_all_predictors(subject.network());
  ASSERT_EQ(predictors[1]->name(), "streamed");
  EXPECT_EQ(subject.answers_of(*predictors[1]), subject.expected());
}

TYPED_TEST(Stage04Latency, PathsComeAndGo) {
  const Question question = questions().front();
  Subject<TypeParam> subject(question);
  for (int i = 0; i < 10; ++i) {
    RecordedPrediction<TypeParam> recorded(subject.network(), subject.stream());
    EXPECT_EQ(subject.answers_of(recorded), subject.expected()) << i;
    {
      // What the one before has left in the same memory must not pass for an answer.
      const auto persistent = make_persistent_prediction(subject.network());
      EXPECT_EQ(subject.answers_of(*persistent), subject.expected()) << i;
      if (!cuda::runs_on_cpu()) {  // one at a time, where they stay
        EXPECT_EQ(make_persistent_prediction(subject.network()), nullptr);
      }
    }
    EXPECT_NE(make_persistent_prediction(subject.network()), nullptr);  // never asked
  }
}

TYPED_TEST(Stage04Latency, PersistentTakesWhatItCan) {
  const auto is_taken = [](const ModelOptions& model, Index rows) {
    Network<TypeParam> network = make_network<TypeParam>(model, rows);
    return make_persistent_prediction(network) != nullptr;
  };
  const ModelOptions model = {.hidden = {5}, .sample = {6}, .classes = 3};
  EXPECT_TRUE(is_taken(model, 1));
  EXPECT_FALSE(is_taken(model, 2));
  ModelOptions deep = model;
  deep.hidden.assign(16, 5);
  EXPECT_FALSE(is_taken(deep, 1));
  ModelOptions wide = model;
  wide.sample = {100'000};
  EXPECT_FALSE(is_taken(wide, 1));
  EXPECT_FALSE(is_taken({.name = "cnn", .sample = {16, 16, 1}, .classes = 3}, 1));
}

/// Feeds a kernel that stays, as PersistentPrediction does on a GPU. The launch has a thread of its
/// own, since in a CPU build it returns when the kernel ends.
TYPED_TEST(Stage04Latency, TheKernelStaysUntilItIsToldToStop) {
  const Question question = questions().front();
  Subject<TypeParam> subject(question);
  auto mlp = minibatch::plan_persistent_mlp(subject.network());
  ASSERT_TRUE(mlp);
  const cuda::Stream stream;
  minibatch::Mailbox<TypeParam> mail(*mlp, stream);
  mlp->first_request = minibatch::stop_request - 2;  // so that it begins anew on the way
  std::thread kernel([&] {
    minibatch::launch_persistent_mlp(stream.get(), *mlp);
    stream.synchronize();
  });

  std::vector<TypeParam> features(static_cast<std::size_t>(mlp->layers[0].in));
  std::uint32_t request = mlp->first_request;
  for (std::uint32_t i = 0; i < 20; ++i, request = minibatch::request_after(request)) {
    question.data.gather(std::span<const std::uint32_t>(&i, 1), features.data());
    mail.post(request, features.data());
    while (!mail.is_answered(request)) std::this_thread::yield();
    EXPECT_EQ(mail.answer(), subject.expected()[i]) << i;
  }
  EXPECT_LT(request, 30U);
  mail.post_stop();
  kernel.join();
}

TYPED_TEST(Stage04Latency, AKernelThatFailsMakesASentence) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizers report this and end the program";
#endif
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // the failure spoils the GPU for this process
  const auto use_broken_kernel = [] {
    const Question question = questions().front();
    const Subject<TypeParam> unused(question);
    Network<TypeParam> network = make_network<TypeParam>(question.model, 1);
    auto mlp = minibatch::plan_persistent_mlp(network);
    mlp->layers[1].weight = nullptr;
    PersistentPrediction<TypeParam> persistent(*mlp);
    std::int32_t found = -1;
    try {
      persistent.predict(&found);
    } catch (const Error& error) {
      std::fprintf(stderr, "the sentence: %s\n", error.what());
      std::_Exit(7);
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(use_broken_kernel(), testing::ExitedWithCode(7), "the sentence: .*failed: ");
}

}  // namespace
}  // namespace stagewise
