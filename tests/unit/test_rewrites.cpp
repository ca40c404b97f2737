/// @file
/// Functions from programs to programs: lines that are fused, copies for workers, layers that are
/// appended. What is rewritten computes the same, whatever the program.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "network/dependencies.hpp"
#include "network/layers.hpp"
#include "network/rewriter.hpp"
#include "support.hpp"
#include "unit/execution.hpp"

namespace stagewise {
namespace {

using Lines = std::vector<std::size_t>;

// ----------------------------------------------------------------------------------------- fusion

bool has(const std::vector<ValueId>& values, ValueId id) {
  return std::find(values.begin(), values.end(), id) != values.end();
}

/// Fuses some lines, which lie not far apart, into one that writes what they do, but perhaps for a
/// value. Expects that this is refused exactly where it must be: where another line needs the value
/// that is left out, or has to stand between two of the members.
/// @return the rewritten program; none if it was refused.
std::optional<Program> fuse_any(const Program& program, Random& random) {
  const std::size_t first = random.below(program.lines.size());
  Lines members = {first};
  for (std::size_t i = first + 1; i < std::min(first + 6, program.lines.size()); ++i) {
    if (random.below(2) == 0) members.push_back(i);
  }
  AverageWeights fused;
  for (const std::size_t member : members) {
    for (const ValueId id : written_by(program.lines[member].operation)) {
      if (random.below(8) > 0) fused.means.emplace_back(id);
    }
  }
  const std::vector<ValueId> written = written_by(fused);
  const Dependencies dependencies(program);
  bool is_possible = true;
  const auto any_member = [&](const auto& test) { return std::any_of(members.begin(), members.end(), test); };
  for (std::size_t i = 0; i < program.lines.size(); ++i) {
    if (any_member([&](std::size_t member) { return member == i; })) continue;
    const auto follows = [&](std::size_t member) { return dependencies.follows(i, member); };
    const auto precedes = [&](std::size_t member) { return dependencies.follows(member, i); };
    if (any_member(follows) && any_member(precedes)) is_possible = false;
    for (const ValueId id : read_by(program.lines[i].operation)) {
      const auto hides = [&](std::size_t member) {
        return has(written_by(program.lines[member].operation), id) && !has(written, id);
      };
      if (any_member(hides)) is_possible = false;
    }
  }
  Rewriter rewriter(program);
  const std::optional<std::size_t> line = rewriter.fuse(members, fused);
  EXPECT_EQ(line.has_value(), is_possible);
  if (!line) {
    EXPECT_EQ(texts_of(rewriter.program()), texts_of(program)) << "refused, but changed";
    return std::nullopt;
  }
  Program result = rewriter.finish();
  EXPECT_NO_THROW(expect_valid(result));
  EXPECT_EQ(written_by(result.lines[*line].operation), written);
  return result;
}

/// Sums and functions of three numbers at a time, some in the place of what is no longer needed.
Program random_program(Random& random) {
  Program program;
  std::vector<ValueId> readable = {program.add({.name = "given", .shape = {3}, .role = Role::weight})};
  for (int i = 0; i < 12; ++i) {
    const ValueId x = readable[random.below(readable.size())];
    const ValueId other = readable[random.below(readable.size())];
    Value value = {.name = "v" + std::to_string(i), .shape = {3}};
    const ValueId over = readable[random.below(readable.size())];
    const bool is_over = over.index > 0 && over != x && over != other && random.below(3) == 0;
    if (is_over) {
      value.memory_of = over;
      std::erase(readable, over);
    }
    const ValueId y = program.add(value);
    readable.push_back(y);
    switch (random.below(3)) {
      case 0:
        program.append(Sigmoid{.x = x, .y = y});
        break;
      case 1:
        program.append(Copy{.x = x, .y = y});
        break;
      default:
        program.append(Sum{.terms = {x, other}, .sum = y});
    }
  }
  return program;
}

/// All values in the end.
/// @param rewritten what has been made of the program; it may do without some of its values, but
///        stage 01 does not, as it expands the fused line.
std::vector<std::vector<double>> results_of(const Program& program, const Program& rewritten) {
  Workbench<double> bench;
  bench.parameters = {{ValueId{0}, {0.5, -1, 2}}};
  bench.load(program, 1);
  bench.executor->execute(rewritten, {.rows = 1});
  std::vector<std::vector<double>> results;
  for (int i = 0; i < static_cast<int>(program.values.size()); ++i) {
    results.push_back(bench.get(program, {i}, 1));
  }
  return results;
}

TEST(Fuse, KeepsWhatAnyProgramComputes) {
  Random random(1);
  int accepted = 0;
  for (int i = 0; i < 2000; ++i) {
    const Program program = random_program(random);
    const std::optional<Program> fused = fuse_any(program, random);
    if (!fused) continue;
    ++accepted;
    ASSERT_EQ(results_of(program, *fused), results_of(program, program));
  }
  EXPECT_GT(accepted, 500);
  EXPECT_LT(accepted, 1800);
}

/// Workers are a rewrite, too: they share out a batch, and their gradients add up.
TEST(Rewrites, KeepWhatAnyNetworkLearns) {
  Random random(2);
  int fusions = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const ModelOptions options = random_model(seed);
    const Model model = build_model(options);
    const Index rows = 1 + static_cast<Index>(random.below(9));
    const int workers = 1 + static_cast<int>(random.below(4));
    SCOPED_TRACE("network " + std::to_string(seed) + ", " + std::to_string(workers) + " workers");
    const Sgd sgd = {.learning_rate = 0.5, .l2 = 0.25};
    const Program alone = build_training(model, sgd, {}).step;
    const Program shared = build_training(model, sgd, {.workers = workers}).step;
    const auto learned = [&](const Program& program, const Program& made) {
      Execution run(options, program, 10);
      run.executor.execute(made, {.first = 3, .rows = rows});
      std::vector<double> parameters;
      for (const ValueId id : model.parameters) {
        const std::vector<double> values = run.get(model[id].name, rows);
        parameters.insert(parameters.end(), values.begin(), values.end());
      }
      return parameters;
    };
    const std::vector<double> expected = learned(shared, shared);
    for (int i = 0; i < 6; ++i) {
      const std::optional<Program> fused = fuse_any(shared, random);
      if (!fused) continue;
      ++fusions;
      EXPECT_EQ(learned(shared, *fused), expected);
    }
    expect_within(expected, widened(learned(alone, alone)), std::vector<long double>(expected.size(), 1e-12L));
  }
  EXPECT_GT(fusions, 100);
}

TEST(Fuse, ReplacesLinesByOneThatRemembersThem) {
  Program p;
  const ValueId given = p.add({.name = "given", .role = Role::data});
  const ValueId a = p.add({.name = "a"});
  const ValueId b = p.add({.name = "b"});
  const ValueId c = p.add({.name = "c"});
  p.append(Relu{.x = given, .y = a});
  p.append(Sigmoid{.x = a, .y = b});
  p.append(Copy{.x = b, .y = c});
  Rewriter rewriter(p);
  ASSERT_TRUE(rewriter.fuse({1, 0, 1}, Replicate{.x = given, .y = b})) << "in any order";
  ASSERT_TRUE(rewriter.fuse({0, 1}, Replicate{.x = given, .y = c}));
  const Program result = rewriter.finish();
  expect_valid(result);
  EXPECT_EQ(texts_of(result), std::vector<std::string>{"replicate  given -> c"});
  EXPECT_EQ(replaced_text(result.lines[0]), "relu sigmoid copy") << "a fused line is expanded when it is fused again";
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

// ---------------------------------------------------------------------------------------- workers

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

// ---------------------------------------------------------------- layers that do not go together

/// A layer, and the sentence with which it is refused: part of it, or "" if it is not.
struct LayerCase {
  Shape sample;
  Shape weight;
  Shape bias;
  Index window;  ///< 0: fully connected
  std::string refusal;
};

TEST(Layers, RefuseWhatDoesNotGoTogether) {
  const Shape pixel = {1, 1, 2, 4};
  const std::string small =
      "the images are too small for this network: 'it' has filters of 5x3 "
      "pixels, but gets images of ";
  const std::string pools = "the images do not fit this network: 'it' pools windows of ";
  const std::vector<LayerCase> cases = {
      {{4}, {5, 3}, {3}, 0, "'it' takes samples of 5 values, but its input has shape [4]"},
      {{2, 3, 1}, {5, 3}, {3}, 0, "takes samples of 5 values, but its input has shape [2, 3, 1]"},
      {{4}, {4}, {3}, 0, "'it' takes a weight of two dimensions, but it has shape [4]"},
      {{4}, {4, 3, 2}, {3}, 0, "takes a weight of two dimensions, but it has shape [4, 3, 2]"},
      {{4}, {}, {3}, 0, "takes a weight of two dimensions, but it has shape []"},
      {{4}, {4, 3}, {4}, 0, "'it' takes a bias of shape [3], but it has shape [4]"},
      {{2, 3, 1}, {1, 1, 1, 1}, {4}, 1, "'it' takes a bias of shape [1], but it has shape [4]"},
      {{4, 9, 2}, {5, 3, 2, 4}, {4}, 1, small + "4x9"},
      {{9, 2, 2}, {5, 3, 2, 4}, {4}, 1, small + "9x2"},
      {{5, 3, 2}, {5, 3, 2, 4}, {4}, 1, ""},
      {{4, 5, 2}, pixel, {4}, 2, pools + "2x2 pixels, which do not divide 4x5"},
      {{4, 6, 2}, pixel, {4}, 3, pools + "3x3 pixels, which do not divide 4x6"},
      {{4, 6, 2}, pixel, {4}, -2, "windows of -2x-2 pixels"},
      {{4, 6, 2}, pixel, {4}, 2, ""},
      // What counts is what the convolution leaves: 4x6 here.
      {{5, 8, 2}, {2, 3, 2, 4}, {4}, 2, ""},
      {{5, 8, 2}, {2, 3, 2, 4}, {4}, 3, pools + "3x3 pixels, which do not divide 4x6"},
      {{5, 5, 2}, {2, 2, 3, 4}, {4}, 1, "filters of as many channels"},
      {{50}, {2, 2, 3, 4}, {4}, 1, "convolves images"}};
  for (const auto& [sample, weight, bias, window, refusal] : cases) {
    Program p;
    const ValueId input = p.add({.name = "value", .shape = sample, .is_batched = true});
    const ValueId w = p.add({.name = "value", .shape = weight});
    const ValueId b = p.add({.name = "value", .shape = bias});
    const std::string sentence = sentence_of([&, side = window] {
      if (side == 0) {
        append_linear(p, "it", input, w, b, Activation::relu);
      } else {
        append_convolution_relu_pool(p, "it", input, w, b, side);
      }
    });
    expect_contains(sentence, refusal);
    EXPECT_EQ(sentence.empty(), refusal.empty()) << sentence;
    EXPECT_EQ(p.lines.empty(), !refusal.empty());
  }
}

/// A user's choice of data or model is to blame.
TEST(CnnImages, ThatDoNotGoThroughAreRefused) {
  const auto build = [](const Shape& sample) { build_model({.name = "cnn", .sample = sample, .classes = 3}); };
  EXPECT_NO_THROW(build({16, 16, 1}));
  EXPECT_NO_THROW(build({28, 16, 3}));
  for (const Shape& sample : {Shape{4, 28, 1}, Shape{28, 27, 1}, Shape{12, 12, 1}, Shape{784}}) {
    EXPECT_THROW(build(sample), UsageError) << sample.to_string();
  }
  expect_contains(sentence_of([&] { build({18, 16, 1}); }), "'conv2' pools windows of 2x2 pixels");
}

}  // namespace
}  // namespace stagewise
