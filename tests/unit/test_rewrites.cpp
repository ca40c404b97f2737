/// @file
/// Functions from programs to programs: layers that are appended, lines that are fused, copies for
/// workers.

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "network/layers.hpp"
#include "network/rewriter.hpp"
#include "support.hpp"
#include "tensor/error.hpp"
#include "unit/programs.hpp"

namespace stagewise {
namespace {

using Lines = std::vector<std::size_t>;

// ----------------------------------------------------------------------------------------- fusion

std::vector<std::string> names_of(const std::vector<Operation>& operations) {
  std::vector<std::string> names;
  for (const Operation& operation : operations) names.emplace_back(name_of(operation));
  return names;
}

/// given -> a -> b -> c, and what else a test appends.
class Fuse : public testing::Test {
 protected:
  ValueId add(const std::string& name, ValueId memory_of = {}) {
    return p_.add({.name = name, .memory_of = memory_of});
  }

  /// Fuses the lines into a copy from `x` to `y`.
  /// @return what is left, as text; empty if it was refused, and nothing has changed then.
  std::vector<std::string> fused(const Lines& members, ValueId x, ValueId y) {
    expect_valid(p_);
    Rewriter rewriter(p_);
    if (!rewriter.fuse(members, Copy{.x = x, .y = y})) {
      EXPECT_EQ(texts_of(rewriter.program()), texts_of(p_));
      return {};
    }
    const Program result = rewriter.finish();
    EXPECT_NO_THROW(expect_valid(result));
    return texts_of(result);
  }

  Program p_;
  ValueId given_ = p_.add({.name = "given", .role = Role::data});
  ValueId a_ = add("a");
  ValueId b_ = add("b");
  ValueId c_ = add("c");
};

using Texts = std::vector<std::string>;

TEST_F(Fuse, ReplacesLinesByOneThatRemembersThem) {
  p_.append(Relu{.x = given_, .y = a_});
  p_.append(Sigmoid{.x = a_, .y = b_});
  p_.append(Copy{.x = b_, .y = c_});
  Rewriter rewriter(p_);
  ASSERT_TRUE(rewriter.fuse({1, 0, 1}, Replicate{.x = given_, .y = b_})) << "in any order";
  ASSERT_TRUE(rewriter.fuse({0, 1}, Replicate{.x = given_, .y = c_}));
  const Program result = rewriter.finish();
  expect_valid(result);
  EXPECT_EQ(texts_of(result), Texts{"replicate  given -> c"});
  EXPECT_EQ(names_of(result.lines[0].replaces), (Texts{"relu", "sigmoid", "copy"}))
      << "a fused line is expanded when it is fused again";
}

TEST_F(Fuse, RefusesToHideWhatOthersRead) {
  p_.append(Relu{.x = given_, .y = a_});
  p_.append(Relu{.x = a_, .y = b_});
  p_.append(Sum{.terms = {a_, b_}, .sum = c_});
  EXPECT_EQ(fused({0, 1}, given_, b_), Texts());
  EXPECT_EQ(fused({0, 1, 2}, given_, c_), Texts{"copy  given -> c"}) << "nobody outside reads a";
}

/// b is computed outside, from the first member's result, for the second one.
TEST_F(Fuse, RefusesWhereALineMustStandBetween) {
  const ValueId d = add("d");
  p_.append(Relu{.x = given_, .y = a_});
  p_.append(Relu{.x = given_, .y = d});
  p_.append(Sigmoid{.x = a_, .y = b_});
  p_.append(Sum{.terms = {d, b_}, .sum = c_});
  Rewriter rewriter(p_);
  EXPECT_FALSE(rewriter.fuse({0, 3}, AverageWeights{.workers = {}, .means = {a_, c_}}));
  EXPECT_EQ(texts_of(rewriter.program()), texts_of(p_));
}

/// The same through two lines outside, neither of which stands between by itself.
TEST_F(Fuse, RefusesWhereAChainOfLinesMustStandBetween) {
  const ValueId d = add("d");
  p_.append(Relu{.x = given_, .y = a_});
  p_.append(Sigmoid{.x = a_, .y = b_});
  p_.append(Sigmoid{.x = b_, .y = d});
  p_.append(Relu{.x = d, .y = c_});
  Rewriter rewriter(p_);
  EXPECT_FALSE(rewriter.fuse({0, 3}, AverageWeights{.workers = {}, .means = {a_, c_}}));
}

TEST_F(Fuse, MovesWhatStandsBetweenOutOfTheWay) {
  const ValueId d = add("d");
  const ValueId e = add("e");
  p_.append(Relu{.x = given_, .y = a_});
  p_.append(Relu{.x = given_, .y = d});  // of no concern: goes before
  p_.append(Sigmoid{.x = a_, .y = b_});  // needs the first member: goes behind
  p_.append(Relu{.x = d, .y = e});       // goes before, behind what it needs
  p_.append(Sum{.terms = {a_, e}, .sum = c_});
  Rewriter rewriter(p_);
  Sum fused{.terms = {given_, e}, .sum = c_};
  EXPECT_FALSE(rewriter.fuse({0, 4}, fused)) << "a is read by the sigmoid";
  ASSERT_TRUE(rewriter.fuse(
      {0, 4}, OutputLayer{.input = given_, .weight = e, .doutput = a_, .dinput = c_}));
  const Program result = rewriter.finish();
  EXPECT_NO_THROW(expect_valid(result));
  EXPECT_EQ(texts_of(result), (Texts{"relu  given -> d", "relu  d -> e",
                                     "output_layer  given, e -> a, c", "sigmoid  a -> b"}));
  EXPECT_EQ(names_of(result.lines[2].replaces), (Texts{"relu", "sum"}));
}

TEST_F(Fuse, TellsWhereTheNewLineIs) {
  const ValueId d = add("d");
  p_.append(Relu{.x = given_, .y = d});
  p_.append(Relu{.x = given_, .y = a_});
  p_.append(Relu{.x = d, .y = c_});  // of no concern
  p_.append(Sigmoid{.x = a_, .y = b_});
  Rewriter rewriter(p_);
  EXPECT_EQ(rewriter.fuse({1, 3}, Copy{.x = given_, .y = b_}), 1U);
  EXPECT_EQ(texts_of(rewriter.program()),
            (Texts{"relu  given -> d", "copy  given -> b", "relu  d -> c"}));
}

/// What overwrites a value must stay behind whoever reads it, though no value ties the two
/// together.
TEST_F(Fuse, KeepsOverwritingBehindReading) {
  const ValueId over_a = add("over a", a_);
  const ValueId d = add("d");
  p_.append(Relu{.x = given_, .y = a_});
  p_.append(Relu{.x = given_, .y = b_});
  p_.append(Sigmoid{.x = a_, .y = c_});   // reads a,
  p_.append(Relu{.x = b_, .y = over_a});  // which is overwritten here
  p_.append(Sum{.terms = {c_, over_a}, .sum = d});
  EXPECT_EQ(fused({1, 3}, given_, over_a), (Texts{"relu  given -> a", "sigmoid  a -> c",
                                                  "copy  given -> over a", "sum  c, over a -> d"}));
  // The sigmoid cannot be done with the sum and leave a's place to the relu before.
  Rewriter rewriter(p_);
  EXPECT_FALSE(rewriter.fuse({2, 4}, Sum{.terms = {a_, over_a}, .sum = d}));
}

/// A gradient that is used at once: the input's gradient still needs the weights as they were.
TEST_F(Fuse, KeepsAnUpdateBehindWhoReadsTheParameter) {
  const Program step = step_of(mlp);
  const std::size_t dinput = 11;
  ASSERT_EQ(texts_of(step)[dinput], "gemm  d fc2/output, fc2/weight -> d fc1/output");
  Rewriter rewriter(step);
  const LinearGradients fused = {.input = named(step, "fc1/output"),
                                 .doutput = named(step, "d fc2/output"),
                                 .weight = named(step, "fc2/weight")};
  ASSERT_TRUE(rewriter.fuse({12, 18}, fused));
  const Program result = rewriter.finish();
  expect_valid(result);
  const Texts texts = texts_of(result);
  const auto at = [&](const std::string& text) {
    return std::find(texts.begin(), texts.end(), text) - texts.begin();
  };
  ASSERT_LT(at("gemm  d fc2/output, fc2/weight -> d fc1/output"), std::ssize(texts));
  EXPECT_LT(at("gemm  d fc2/output, fc2/weight -> d fc1/output"),
            at("linear_gradients  fc1/output, d fc2/output, fc2/weight -> fc2/weight"));
}

TEST(Rewriter, FindsWritersAndReaders) {
  const Program step = step_of(mlp);
  const Rewriter rewriter(step);
  EXPECT_EQ(rewriter.writer_of(named(step, "fc1/output")), 3U);
  EXPECT_EQ(rewriter.writer_of(named(step, "fc1/weight")), std::nullopt) << "it is updated";
  EXPECT_EQ(rewriter.writer_of(named(step, "features")), std::nullopt);
  EXPECT_EQ(rewriter.readers_of(named(step, "fc1/output")), (Lines{4, 12, 13}));
  EXPECT_EQ(rewriter.readers_of(named(step, "fc1/weight")), (Lines{1, 16}));
  EXPECT_EQ(rewriter.reader_of<ReluBackward>(named(step, "fc1/output")), 13U);
  EXPECT_EQ(rewriter.reader_of<Gemm>(named(step, "fc1/output")), std::nullopt) << "two of them";
  EXPECT_EQ(rewriter.reader_of<Sigmoid>(named(step, "fc1/output")), std::nullopt);
  EXPECT_NE(rewriter.get<Relu>(3), nullptr);
  EXPECT_EQ(rewriter.get<Relu>(4), nullptr);
}

TEST(Rewriter, SplitsOffWhatOneLineStandsFor) {
  const Program step = step_of(mlp);
  Rewriter rewriter(step);
  const UpdateBySum all = {.gradients = {named(step, "d fc1/weight"), named(step, "d fc1/bias")},
                           .parameters = {named(step, "fc1/weight"), named(step, "fc1/bias")}};
  const std::optional<std::size_t> line = rewriter.fuse({14, 16, 17}, all);
  ASSERT_EQ(line, 15U) << "behind the gradient of the weight";
  rewriter.split_off<ColumnSums>(*line, Copy{.x = all.gradients[0], .y = all.parameters[0]});
  const Program result = rewriter.finish();
  EXPECT_EQ(replaced_text(result.lines[*line]), "sgd_update x2");
  EXPECT_STREQ(name_of(result.lines[*line + 1].operation), "copy");
  EXPECT_EQ(replaced_text(result.lines[*line + 1]), "column_sums");
  EXPECT_EQ(result.lines.size(), step.lines.size() - 1);
}

TEST(Rewriter, LetsALineStandForMore) {
  const Program step = step_of(mlp);
  Rewriter rewriter(step);
  ASSERT_TRUE(rewriter.fuse({1, 2, 3}, Linear{.input = named(step, "batch"),
                                              .weight = named(step, "fc1/weight"),
                                              .bias = named(step, "fc1/bias"),
                                              .output = named(step, "fc1/output")}));
  Linear with_order = *rewriter.get<Linear>(1);
  with_order.order = named(step, "order");
  rewriter.replace(1, with_order, {step.lines[0].operation});
  rewriter.remove(0);
  const Program result = rewriter.finish();
  EXPECT_EQ(result.lines.size(), step.lines.size() - 3);
  EXPECT_EQ(text_of(result, result.lines[0].operation),
            "linear  batch, order, fc1/weight, fc1/bias -> fc1/output");
  EXPECT_EQ(replaced_text(result.lines[0]), "gather gemm add_bias relu");
}

// ---------------------------------------------------------------------------------------- workers

TEST(AppendCopy, HasValuesOfItsOwnButForDataAndParameters) {
  const Program one = build_model({.hidden = {7}, .sample = {6}, .classes = 4}).program;
  Program two;
  two.values = one.values;
  const Part part = {.index = 1, .count = 3};
  const std::vector<ValueId> copies = append_copy(two, one, {.part = part, .whose = "@1"});
  expect_valid(two);
  ASSERT_EQ(two.lines.size(), one.lines.size());
  ASSERT_EQ(copies.size(), one.values.size());
  for (int i = 0; i < static_cast<int>(one.values.size()); ++i) {
    const Value& original = one[ValueId{i}];
    const ValueId copy = copies[static_cast<std::size_t>(i)];
    const bool is_order = original.name == "order";
    if (is_parameter(original.role) || (original.role == Role::data && !is_order)) {
      EXPECT_EQ(copy, ValueId{i}) << original.name;
      continue;
    }
    ASSERT_GE(copy.index, static_cast<int>(one.values.size())) << original.name;
    EXPECT_EQ(two[copy].name, original.name + "@1");
    EXPECT_EQ(two[copy].shape, original.shape);
    EXPECT_EQ(two[copy].role, original.role);
    EXPECT_EQ(two[copy].type, original.type);
    EXPECT_EQ(two[copy].part, part);
    if (is_order) {
      EXPECT_EQ(two[copy].memory_of, ValueId{i}) << "a part of the same order";
    } else if (original.memory_of) {
      EXPECT_EQ(two[copy].memory_of, copies[static_cast<std::size_t>(original.memory_of.index)]);
    } else {
      EXPECT_FALSE(two[copy].memory_of);
    }
  }
  EXPECT_EQ(texts_of(two)[1], "gemm  batch@1, fc1/weight -> fc1/product@1");
}

TEST(AppendCopy, CanHaveParametersAndSamplesOfItsOwn) {
  const Program one = build_model({.hidden = {7}, .sample = {6}, .classes = 4}).program;
  Program two;
  two.values = one.values;
  append_copy(two, one, {.whose = "'", .has_parameters = true, .has_samples = true});
  expect_valid(two);
  EXPECT_EQ(texts_of(two)[0], "gather  features, labels, order' -> batch', batch labels'");
  EXPECT_EQ(texts_of(two)[1], "gemm  batch', fc1/weight' -> fc1/product'");
  EXPECT_FALSE(two[named(two, "order'")].memory_of);
  EXPECT_EQ(two[named(two, "fc1/weight'")].role, Role::weight);
}

const ModelOptions small_model = {.hidden = {}, .sample = {6}, .classes = 4};

Texts last_lines(const Program& program, std::size_t count) {
  const Texts texts = texts_of(program);
  return {texts.end() - static_cast<std::ptrdiff_t>(std::min(count, texts.size())), texts.end()};
}

TEST(BuildTraining, AddsUpTheWorkersGradientsInTheirOrder) {
  const TrainingPrograms training = build_training(build_model(small_model), {}, {.workers = 3});
  EXPECT_EQ(last_lines(training.step, 4),
            (Texts{"sum  d fc1/weight@0, d fc1/weight@1, d fc1/weight@2 -> d fc1/weight",
                   "sum  d fc1/bias@0, d fc1/bias@1, d fc1/bias@2 -> d fc1/bias",
                   "sgd_update  d fc1/weight, fc1/weight -> fc1/weight",
                   "sgd_update  d fc1/bias, fc1/bias -> fc1/bias"}));
  EXPECT_TRUE(training.workers.empty());
  EXPECT_TRUE(training.mean.lines.empty());
  EXPECT_TRUE(training.take_over.lines.empty());
  ASSERT_EQ(training.totals.size(), 3U);
  EXPECT_EQ(training.step[training.totals[2]].name, "totals@2");
}

TEST(BuildTraining, GivesWorkersWeightsOfTheirOwnAndTheirMean) {
  const TrainingPrograms training =
      build_training(build_model(small_model), {}, {.workers = 2, .average = Average::weights});
  EXPECT_EQ(last_lines(training.step, 2),
            (Texts{"sgd_update  d fc1/weight@1, fc1/weight@1 -> fc1/weight@1",
                   "sgd_update  d fc1/bias@1, fc1/bias@1 -> fc1/bias@1"}));
  EXPECT_EQ(texts_of(training.mean), (Texts{"mean  fc1/weight@0, fc1/weight@1 -> fc1/weight",
                                            "mean  fc1/bias@0, fc1/bias@1 -> fc1/bias"}));
  EXPECT_EQ(
      texts_of(training.take_over),
      (Texts{"mean  fc1/weight@0, fc1/weight@1 -> fc1/weight", "copy  fc1/weight -> fc1/weight@0",
             "copy  fc1/weight -> fc1/weight@1", "mean  fc1/bias@0, fc1/bias@1 -> fc1/bias",
             "copy  fc1/bias -> fc1/bias@0", "copy  fc1/bias -> fc1/bias@1"}));
  ASSERT_EQ(training.workers.size(), 2U);
  for (std::size_t worker = 0; worker < 2; ++worker) {
    ASSERT_EQ(training.workers[worker].size(), 2U);
    const std::string whose = "@" + std::to_string(worker);
    const Value& weight = training.step[training.workers[worker][0]];
    EXPECT_EQ(weight.name, "fc1/weight" + whose);
    EXPECT_TRUE(weight.part.is_alone) << "a mean over its own samples";
    EXPECT_EQ(training.step[training.workers[worker][1]].name, "fc1/bias" + whose);
  }
}

TEST(BuildTraining, DecaysWeightsAndNeverBiases) {
  for (const Average average : {Average::gradients, Average::weights}) {
    const Program step =
        build_training(build_model(small_model), {.learning_rate = 0.5, .l2 = 0.25},
                       {.workers = 2, .average = average})
            .step;
    int updates = 0;
    for (const Line& line : step.lines) {
      const auto* const update = std::get_if<SgdUpdate>(&line.operation);
      if (update == nullptr) continue;
      ++updates;
      EXPECT_EQ(update->learning_rate, 0.5);
      EXPECT_EQ(update->l2, step[update->parameter].role == Role::weight ? 0.25 : 0);
    }
    EXPECT_EQ(updates, average == Average::weights ? 4 : 2);
  }
}

// ---------------------------------------------------------------- layers that do not go together

/// The sentence of the UsageError that `work` throws: a user's choice of data or model is to blame.
template <typename Work>
std::string usage_sentence_of(const Work& work) {
  try {
    work();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no UsageError";
}

class Layers : public testing::Test {
 protected:
  ValueId add(const Shape& shape, bool is_batched = false) {
    return p_.add({.name = "value", .shape = shape, .is_batched = is_batched});
  }

  std::string linear_refusal(const Shape& sample, const Shape& weight, const Shape& bias) {
    const std::size_t before = p_.lines.size();
    std::string sentence = sentence_of([&] {
      append_linear(p_, "it", add(sample, true), add(weight), add(bias), Activation::relu);
    });
    EXPECT_EQ(p_.lines.size(), before);
    return sentence;
  }

  std::string convolution_refusal(const Shape& sample, const Shape& filter, Index window) {
    return usage_sentence_of([&] {
      append_convolution_relu_pool(p_, "conv", add(sample, true), add(filter), {}, window);
    });
  }

  Program p_;
};

TEST_F(Layers, RefuseAnInputThatDoesNotFitTheWeight) {
  EXPECT_EQ(linear_refusal({4}, {5, 3}, {3}),
            "'it' takes samples of 5 values, but its input has shape [4]");
  EXPECT_EQ(linear_refusal({2, 3, 1}, {5, 3}, {3}),
            "'it' takes samples of 5 values, but its input has shape [2, 3, 1]");
}

TEST_F(Layers, RefuseAWeightThatIsNoMatrix) {
  for (const Shape& shape : {Shape{4}, Shape{4, 3, 2}, Shape{}}) {
    EXPECT_EQ(linear_refusal({4}, shape, {3}),
              "'it' takes a weight of two dimensions, but it has shape " + shape.to_string());
  }
}

TEST_F(Layers, RefuseABiasThatDoesNotFitTheOutput) {
  EXPECT_EQ(linear_refusal({4}, {4, 3}, {4}),
            "'it' takes a bias of shape [3], but it has shape [4]");
  EXPECT_EQ(sentence_of([&] {
              append_convolution_relu_pool(p_, "it", add({2, 3, 1}, true), add({1, 1, 1, 1}),
                                           add({4}), 1);
            }),
            "'it' takes a bias of shape [1], but it has shape [4]");
}

TEST_F(Layers, RefuseImagesSmallerThanTheFilter) {
  const std::string sentence =
      "the images are too small for this network: 'conv' has filters of 5x3 pixels, but gets "
      "images of ";
  EXPECT_EQ(convolution_refusal({4, 9, 2}, {5, 3, 2, 4}, 1), sentence + "4x9");
  EXPECT_EQ(convolution_refusal({9, 2, 2}, {5, 3, 2, 4}, 1), sentence + "9x2");
  EXPECT_EQ(convolution_refusal({5, 3, 2}, {5, 3, 2, 4}, 1), "no UsageError");
}

TEST_F(Layers, RefuseImagesThatTheWindowDoesNotDivide) {
  const std::string sentence = "the images do not fit this network: 'conv' pools windows of ";
  const Shape pixel = {1, 1, 2, 4};
  EXPECT_EQ(convolution_refusal({4, 5, 2}, pixel, 2),
            sentence + "2x2 pixels, which do not divide 4x5");
  EXPECT_EQ(convolution_refusal({4, 6, 2}, pixel, 3),
            sentence + "3x3 pixels, which do not divide 4x6");
  expect_contains(convolution_refusal({4, 6, 2}, pixel, 0), "windows of 0x0 pixels");
  expect_contains(convolution_refusal({4, 6, 2}, pixel, -2), "windows of -2x-2 pixels");
  EXPECT_EQ(convolution_refusal({4, 6, 2}, pixel, 2), "no UsageError");
  // What counts is what the convolution leaves: 4x6 here.
  EXPECT_EQ(convolution_refusal({5, 8, 2}, {2, 3, 2, 4}, 2), "no UsageError");
  EXPECT_EQ(convolution_refusal({5, 8, 2}, {2, 3, 2, 4}, 3),
            sentence + "3x3 pixels, which do not divide 4x6");
}

TEST_F(Layers, RefuseOtherChannelsAndWhatIsNoImage) {
  expect_contains(convolution_refusal({5, 5, 2}, {2, 2, 3, 4}, 1), "filters of as many channels");
  expect_contains(convolution_refusal({50}, {2, 2, 3, 4}, 1), "convolves images");
}

TEST(CnnImages, ThatDoNotGoThroughAreRefused) {
  const auto sentence = [](const Shape& sample) {
    return usage_sentence_of([&] { build_model({.name = "cnn", .sample = sample, .classes = 3}); });
  };
  EXPECT_EQ(sentence({16, 16, 1}), "no UsageError");
  EXPECT_EQ(sentence({28, 16, 3}), "no UsageError");
  expect_contains(sentence({4, 28, 1}), "'conv1' has filters of 5x5 pixels");
  expect_contains(sentence({28, 27, 1}), "'conv1' pools windows of 2x2 pixels");
  expect_contains(sentence({12, 12, 1}), "'conv2' has filters of 5x5 pixels");
  expect_contains(sentence({18, 16, 1}), "'conv2' pools windows of 2x2 pixels");
  expect_contains(sentence({784}), "takes images");
}

}  // namespace
}  // namespace stagewise
