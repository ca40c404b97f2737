/// @file
/// Programs, and what is made of them: nothing is computed here.

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "network/cost.hpp"
#include "network/dependencies.hpp"
#include "network/differentiate.hpp"
#include "network/layers.hpp"
#include "network/model.hpp"
#include "network/optimizer.hpp"
#include "network/program.hpp"
#include "network/rewriter.hpp"
#include "network/workers.hpp"
#include "unit/programs.hpp"

namespace stagewise {
namespace {

using Lines = std::vector<std::size_t>;

// ---------------------------------------------------------------- programs of models and trainings

struct ProgramCase {
  std::string name;
  Model model;
  Program program;
};

/// Of all models, what is evaluated, predicted, and trained by 1 or 3 workers.
std::vector<ProgramCase> program_cases() {
  std::vector<std::pair<std::string, ModelOptions>> models = {
      {"mlp", {.hidden = {7, 5}, .sample = {3, 2, 1}, .classes = 4}},
      {"mlp_sigmoid_squared_error",
       {.hidden = {7},
        .activation = Activation::sigmoid,
        .loss = LossKind::squared_error,
        .sample = {6},
        .classes = 4}},
      {"mlp_without_biases", {.hidden = {7}, .biases = false, .sample = {6}, .classes = 4}},
      {"mlp_without_hidden", {.hidden = {}, .sample = {6}, .classes = 4}},
      {"cnn", {.name = "cnn", .sample = {16, 20, 2}, .classes = 3}},
      {"cnn_without_biases", {.name = "cnn", .biases = false, .sample = {16, 20, 2}, .classes = 3}},
      {"neuron", {.name = "neuron", .sample = {3}, .classes = 2}}};
  std::vector<ProgramCase> cases;
  for (const auto& [name, options] : models) {
    const Model model = build_model(options);
    cases.push_back({name + "_evaluated", model, model.program});
    for (const int workers : {1, 3}) {
      for (const Average average : {Average::gradients, Average::weights}) {
        const TrainingPrograms training = build_training(model, {.l2 = 0.1}, {.workers = workers, .average = average});
        const std::string how =
            "_of_" + std::to_string(workers) + (average == Average::weights ? "_averaging_weights" : "");
        cases.push_back({name + "_step" + how, model, training.step});
        if (average == Average::gradients) continue;
        cases.push_back({name + "_mean" + how, model, training.mean});
        cases.push_back({name + "_take_over" + how, model, training.take_over});
      }
    }
  }
  return cases;
}

class Programs : public testing::TestWithParam<ProgramCase> {};

/// Nothing is renumbered, either: what the model knows by its id is there under its name.
TEST_P(Programs, AreValidAndNameEveryValueOnce) {
  const Program& program = GetParam().program;
  EXPECT_NO_THROW(expect_valid(program));
  std::set<std::string> names;
  for (const Value& value : program.values) {
    EXPECT_TRUE(names.insert(value.name).second) << "two values are named " << value.name;
  }
  const std::vector<Value>& values = GetParam().model.program.values;
  ASSERT_GE(program.values.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(program.values[i].name, values[i].name);
    EXPECT_EQ(program.values[i].shape, values[i].shape);
  }
}

/// Whatever is computed is used: but for what users ask for.
TEST_P(Programs, ComputeNothingInVain) {
  const Program& program = GetParam().program;
  for (std::size_t i = 0; i < program.lines.size(); ++i) {
    const std::vector<ValueId> written = written_by(program.lines[i].operation);
    EXPECT_FALSE(read_by(program.lines[i].operation).empty());
    EXPECT_TRUE(std::any_of(written.begin(), written.end(), [&](ValueId id) {
      const Role role = program[id].role;
      return role == Role::total || is_parameter(role) || is_read(program, id, {i});
    })) << text_of(program, program.lines[i].operation);
  }
}

TEST_P(Programs, CostAtLeastTheirOperandsOnce) {
  const Program& program = GetParam().program;
  constexpr Index rows = 7;
  for (const Line& line : program.lines) {
    const std::string text = text_of(program, line.operation);
    const Cost in_float = cost_of(program, line, rows, 4);
    const Cost in_double = cost_of(program, line, rows, 8);
    EXPECT_EQ(in_float.operations, in_double.operations) << text;
    EXPECT_GT(in_float.bytes, 0) << text;
    EXPECT_GT(in_double.bytes, in_float.bytes) << text;
    EXPECT_LE(in_double.bytes, 2 * in_float.bytes) << text;
    const std::string name = name_of(line.operation);
    EXPECT_EQ(in_float.operations == 0, name == "gather" || name == "copy") << text;
  }
}

INSTANTIATE_TEST_SUITE_P(, Programs, testing::ValuesIn(program_cases()),
                         [](const auto& test) { return test.param.name; });

// ------------------------------------------------------------------------------- every operation

/// Becomes any operand, and nothing else.
struct AnyOperand {
  template <typename Kind>
  operator Reads<Kind>() const;  // NOLINT(*-explicit-*)
  template <typename Kind>
  operator Writes<Kind>() const;  // NOLINT(*-explicit-*)
  template <typename Kind>
  operator Updates<Kind>() const;  // NOLINT(*-explicit-*)
  template <typename Kind>
  operator std::vector<Reads<Kind>>() const;  // NOLINT(*-explicit-*)
  template <typename Kind>
  operator std::vector<Writes<Kind>>() const;  // NOLINT(*-explicit-*)
  template <typename Kind>
  operator std::vector<Updates<Kind>>() const;  // NOLINT(*-explicit-*)
};

template <typename Op, std::size_t... i>
constexpr bool begins_with_operands(std::index_sequence<i...> /*count*/) {
  return requires { Op{(static_cast<void>(i), AnyOperand())...}; };
}

/// How many of its members are operands, which stand before all attributes.
template <typename Op, std::size_t count = 0>
constexpr std::size_t operand_count() {
  if constexpr (begins_with_operands<Op>(std::make_index_sequence<count + 1>())) {
    return operand_count<Op, count + 1>();
  }
  return count;
}

/// Those of the operation that is part of another one, if there is one.
template <typename Op>
constexpr std::size_t nested_operand_count() {
  if constexpr (requires(Op op) { op.last; }) return operand_count<decltype(Op::last)>();
  return 0;
}

template <typename Op>
void expect_operands_named_once() {
  Op op;
  EXPECT_EQ(std::tuple_size_v<decltype(op.operands(op))>, operand_count<Op>() + nested_operand_count<Op>());

  int next = 0;
  const auto fill = [&](auto& member) {
    if constexpr (requires { member.emplace_back(ValueId()); }) {
      member.emplace_back(ValueId{next++});
      member.emplace_back(ValueId{next++});
    } else {
      EXPECT_FALSE(member) << "named twice";
      static_cast<ValueId&>(member) = {next++};
    }
  };
  std::apply([&](auto&... members) { (fill(members), ...); }, op.operands(op));
  int seen = 0;
  for_each_operand(Operation(op), [&](ValueId id, Use /*use*/) { EXPECT_EQ(id.index, seen++); });
  EXPECT_EQ(seen, next);
}

/// What `operands` forgets would be neither allocated nor waited for, renamed or printed.
TEST(Operation, NamesAllOperandsAndOnlyOnce) {
  const auto expect = [&]<typename Op>() {
    SCOPED_TRACE(Op::name);
    expect_operands_named_once<Op>();
  };
  [&]<typename... Ops>(const std::variant<Ops...>* /*all*/) {
    (expect.template operator()<Ops>(), ...);
  }(static_cast<const Operation*>(nullptr));
}

TEST(Operation, HasANameOfItsOwn) {
  std::set<std::string> names;
  const auto add = [&](const auto& op) { names.insert(op.name); };
  [&]<typename... Ops>(const std::variant<Ops...>* /*all*/) {
    (add(Ops()), ...);
  }(static_cast<const Operation*>(nullptr));
  EXPECT_EQ(names.size(), std::variant_size_v<Operation>);
}

// ---------------------------------------------------------------------------------------- printing

TEST(Print, ShowsTheTwentyLinesOfATrainingStep) {
  EXPECT_EQ(texts_of(step_of(mlp)),
            (std::vector<std::string>{"gather  features, labels, order -> batch, batch labels",
                                      "gemm  batch, fc1/weight -> fc1/product",
                                      "add_bias  fc1/product, fc1/bias -> fc1/sum",
                                      "relu  fc1/sum -> fc1/output",
                                      "gemm  fc1/output, fc2/weight -> fc2/product",
                                      "add_bias  fc2/product, fc2/bias -> fc2/output",
                                      "softmax_cross_entropy  fc2/output, batch labels -> probabilities, row losses",
                                      "argmax  fc2/output -> classes",
                                      "accumulate  row losses, classes, batch labels, totals -> totals",
                                      "softmax_cross_entropy_backward  probabilities, batch labels -> d fc2/output",
                                      "column_sums  d fc2/output -> d fc2/bias",
                                      "gemm  d fc2/output, fc2/weight -> d fc1/output",
                                      "gemm  fc1/output, d fc2/output -> d fc2/weight",
                                      "relu_backward  fc1/output, d fc1/output -> d fc1/sum",
                                      "column_sums  d fc1/sum -> d fc1/bias",
                                      "gemm  batch, d fc1/sum -> d fc1/weight",
                                      "sgd_update  d fc1/weight, fc1/weight -> fc1/weight",
                                      "sgd_update  d fc1/bias, fc1/bias -> fc1/bias",
                                      "sgd_update  d fc2/weight, fc2/weight -> fc2/weight",
                                      "sgd_update  d fc2/bias, fc2/bias -> fc2/bias"}));
}

TEST(Print, ShowsWhatAFusedLineReplaces) {
  EXPECT_EQ(replaced_text({.operation = Relu()}), "");
  EXPECT_EQ(replaced_text({.operation = Linear(), .replaces = {Gather(), Gemm(), AddBias(), Relu()}}),
            "gather gemm add_bias relu");
  EXPECT_EQ(replaced_text(
                {.operation = UpdateBySum(), .replaces = {Sum(), Sum(), SgdUpdate(), SgdUpdate(), SgdUpdate(), Sum()}}),
            "sum x2 sgd_update x3 sum");
}

TEST(Print, LeavesOutTheMiddleOfManyNames) {
  const std::vector<std::string> six = texts_of(step_of(mlp, {.workers = 6}));
  EXPECT_EQ(*(six.end() - 5),
            "sum  d fc2/bias@0, d fc2/bias@1, d fc2/bias@2, d fc2/bias@3, "
            "d fc2/bias@4, d fc2/bias@5 -> d fc2/bias");
  const std::vector<std::string> seven = texts_of(step_of(mlp, {.workers = 7}));
  EXPECT_EQ(*(seven.end() - 5), "sum  d fc2/bias@0, d fc2/bias@1, ..., d fc2/bias@6 -> d fc2/bias");
}

// ------------------------------------------------------------------------------------------ costs

constexpr double rows = 100;

Cost cost_in(const Program& program, const std::string& text) {
  for (const Line& line : program.lines) {
    if (text_of(program, line.operation) == text) {
      return cost_of(program, line, static_cast<Index>(rows), 4);
    }
  }
  ADD_FAILURE() << "there is no line " << text;
  return {};
}

void expect_cost(const Program& program, const std::string& text, double operations, double elements) {
  const Cost cost = cost_in(program, text);
  EXPECT_EQ(cost.operations, operations) << text;
  EXPECT_EQ(cost.bytes, 4 * elements) << text;
}

TEST(CostOf, ALayerIsExact) {
  const Program step = step_of(mlp);
  const double first = 2 * rows * 784 * 256;
  expect_cost(step, "gemm  batch, fc1/weight -> fc1/product", first, rows * 784 + 784 * 256 + rows * 256);
  expect_cost(step, "gemm  batch, d fc1/sum -> d fc1/weight", first, rows * 784 + 784 * 256 + rows * 256);
  // What is in place is read and written; the bias is read once.
  expect_cost(step, "add_bias  fc1/product, fc1/bias -> fc1/sum", rows * 256 + 256, 2 * rows * 256 + 256);
  expect_cost(step, "relu  fc1/sum -> fc1/output", rows * 256, 2 * rows * 256);
  expect_cost(step, "column_sums  d fc1/sum -> d fc1/bias", rows * 256, rows * 256 + 256);
  // l2 costs two more operations, and applies to weights only.
  expect_cost(step, "sgd_update  d fc1/weight, fc1/weight -> fc1/weight", 4 * 784 * 256, 3 * 784 * 256);
  expect_cost(step, "sgd_update  d fc1/bias, fc1/bias -> fc1/bias", 2 * 256, 3 * 256);
  // Of the data set, the batch's samples only: read and written, a label and a number of a sample.
  expect_cost(step, "gather  features, labels, order -> batch, batch labels", 0, rows * (2 * 784 + 2 + 1));
}

TEST(CostOf, AConvolutionIsExact) {
  const Program step = step_of({.name = "cnn", .sample = {28, 28, 1}, .classes = 10});
  const double first = 2 * rows * 24 * 24 * 32 * 25;
  const double second = 2 * rows * 8 * 8 * 64 * 25 * 32;
  const double filters = 25 * 32 * 64;
  expect_cost(step, "convolution  batch, conv1/filter -> conv1/convolved", first,
              rows * 784 + 25 * 32 + rows * 24 * 24 * 32);
  expect_cost(step, "convolution  conv1/output, conv2/filter -> conv2/convolved", second,
              rows * 12 * 12 * 32 + filters + rows * 8 * 8 * 64);
  // Both gradients for the second layer, that of the filter only for the first one.
  expect_cost(step,
              "convolution_backward  conv1/output, conv2/filter, d conv2/sum -> d conv1/output, "
              "d conv2/filter",
              2 * second, 2 * rows * 12 * 12 * 32 + 2 * filters + rows * 8 * 8 * 64);
  expect_cost(step, "convolution_backward  batch, conv1/filter, d conv1/sum -> d conv1/filter", first,
              rows * 784 + 2 * 25 * 32 + rows * 24 * 24 * 32);
  expect_cost(step, "average_pool  conv1/activated -> conv1/output", rows * 24 * 24 * 32,
              rows * (24 * 24 + 12 * 12) * 32);
}

/// Workers share out the products, however unequal their shards are, down to none.
TEST(CostOf, WorkersIsThatOfOne) {
  const auto products = [](const Program& step, Index batch) {
    double operations = 0;
    for (const Line& line : step.lines) {
      if (std::holds_alternative<Gemm>(line.operation)) {
        operations += cost_of(step, line, batch, 4).operations;
      }
    }
    return operations;
  };
  for (const Index batch : {1, 2, 7, 100}) {
    EXPECT_EQ(products(step_of(mlp), batch), static_cast<double>(2 * batch) * (2 * 784 * 256 + 3 * 256 * 10));
    EXPECT_EQ(products(step_of(mlp, {.workers = 3}), batch), products(step_of(mlp), batch));
  }
}

TEST(CostOf, AFusedLineIsWhatItReplacesOnItsOwnOperands) {
  const Program step = step_of(mlp);
  const Line fused = {.operation = Linear{.input = named(step, "batch"),
                                          .weight = named(step, "fc1/weight"),
                                          .bias = named(step, "fc1/bias"),
                                          .output = named(step, "fc1/output"),
                                          .activation = Activation::relu},
                      .replaces = {step.lines[1].operation, step.lines[2].operation, step.lines[3].operation}};
  const Cost cost = cost_of(step, fused, 100, 4);
  EXPECT_EQ(cost.operations, 2 * rows * 784 * 256 + rows * 256 + 256 + rows * 256);
  EXPECT_EQ(cost.bytes, 4 * (rows * 784 + 784 * 256 + 256 + rows * 256));
}

// ------------------------------------------------------------------------------------ valid or not

/// A chain of values by name, each computed from the one before by a relu.
struct Chain {
  explicit Chain(int length) {
    ValueId last = program.add({.name = "given", .role = Role::data});
    values.push_back(last);
    for (int i = 1; i <= length; ++i) {
      const ValueId next = program.add({.name = "v" + std::to_string(i)});
      program.append(Relu{.x = last, .y = next});
      values.push_back(next);
      last = next;
    }
  }

  Program program;
  std::vector<ValueId> values;
};

TEST(ExpectValid, RefusesWhatIsReadBeforeItIsWritten) {
  Chain chain(3);
  EXPECT_NO_THROW(expect_valid(chain.program));
  std::swap(chain.program.lines[1], chain.program.lines[2]);
  EXPECT_EQ(logic_error_of([&] { expect_valid(chain.program); }), "relu reads, too early or late, v2");
}

TEST(ExpectValid, RefusesWhatIsReadWhereItIsOverwritten) {
  Chain chain(2);
  chain.program[chain.values[2]].memory_of = chain.values[1];
  EXPECT_NO_THROW(expect_valid(chain.program));
  const ValueId late = chain.program.add({.name = "late"});
  chain.program.append(Relu{.x = chain.values[1], .y = late});
  EXPECT_EQ(logic_error_of([&] { expect_valid(chain.program); }), "relu reads, too early or late, v1");
}

TEST(ExpectValid, RefusesWhatIsWrittenTwice) {
  Chain chain(1);
  chain.program.append(Sigmoid{.x = chain.values[0], .y = chain.values[1]});
  EXPECT_EQ(logic_error_of([&] { expect_valid(chain.program); }), "sigmoid writes again v1");
}

// ----------------------------------------------------------------------------------- dependencies

TEST(Dependencies, AreWritersAndReadersOfTheSameMemory) {
  Program p;
  const ValueId given = p.add({.name = "given", .role = Role::data});
  const ValueId a = p.add({.name = "a"});
  const ValueId b = p.add({.name = "b"});
  const ValueId c = p.add({.name = "c"});
  const ValueId over_a = p.add({.name = "over a", .memory_of = a});
  p.append(Relu{.x = given, .y = a});
  p.append(Relu{.x = given, .y = b});
  p.append(Sigmoid{.x = a, .y = c});
  p.append(Relu{.x = b, .y = over_a});  // writes where line 2 reads
  p.append(Sum{.terms = {c, over_a}, .sum = p.add({.name = "sum"})});
  expect_valid(p);
  const Dependencies dependencies(p);
  EXPECT_EQ(dependencies.of(0), Lines());
  EXPECT_EQ(dependencies.of(1), Lines());
  EXPECT_EQ(dependencies.of(2), Lines{0});
  EXPECT_EQ(dependencies.of(3), (Lines{0, 1, 2}));
  EXPECT_EQ(dependencies.of(4), (Lines{2, 3}));
  EXPECT_TRUE(dependencies.follows(4, 1)) << "through line 3";
  EXPECT_TRUE(dependencies.follows(3, 2));
  EXPECT_FALSE(dependencies.follows(2, 1));
  EXPECT_FALSE(dependencies.follows(1, 0));
  EXPECT_FALSE(dependencies.follows(0, 4));
}

TEST(Dependencies, LeaveWorkersApartUntilTheyAreAddedUp) {
  const Program step = step_of(mlp, {.workers = 3});
  const Dependencies dependencies(step);
  const auto whose = [&](std::size_t line) {
    const std::string name = step[written_by(step.lines[line].operation).front()].name;
    const std::size_t at = name.find('@');
    return at == std::string::npos ? "" : name.substr(at);
  };
  std::set<std::string> workers;
  for (std::size_t later = 0; later < step.lines.size(); ++later) {
    workers.insert(whose(later));
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      if (whose(later).empty() || whose(later) == whose(earlier)) continue;
      EXPECT_FALSE(dependencies.follows(later, earlier)) << texts_of(step)[later];
    }
  }
  EXPECT_EQ(workers, (std::set<std::string>{"", "@0", "@1", "@2"}));
}

// --------------------------------------------------------------------------------- differentiation

/// A program in the making, with samples and their classes.
struct Differentiable {
  ValueId add_weight(const std::string& name) {
    return program.add({.name = name, .shape = {3, 3}, .role = Role::weight});
  }

  ValueId add_loss(const std::string& name, ValueId outputs) {
    const ValueId losses = program.add({.name = name, .is_batched = true});
    program.append(SquaredError{.outputs = outputs, .labels = labels, .row_losses = losses});
    return losses;
  }

  Program program;
  ValueId input = program.add({.name = "input", .shape = {3}, .role = Role::data, .is_batched = true});
  ValueId labels = program.add({.name = "labels", .role = Role::data, .type = Type::classes, .is_batched = true});
};

/// input -> shared weight -> hidden -+-> left weight -> left loss
///                                   +-> right weight -> right loss
TEST(Differentiate, FollowsTheLossOnly) {
  Differentiable fork;
  Program& p = fork.program;
  const ValueId shared = fork.add_weight("shared");
  const ValueId left = fork.add_weight("left");
  const ValueId right = fork.add_weight("right");
  const ValueId hidden = append_linear(p, "fc1", fork.input, shared, {}, Activation::relu);
  const ValueId loss = fork.add_loss("left loss", append_linear(p, "fc2", hidden, left, {}, Activation::none));
  fork.add_loss("right loss", append_linear(p, "fc3", hidden, right, {}, Activation::none));
  Differentiated both = differentiate(p, loss);
  expect_valid(both.program);
  EXPECT_EQ(both.program.lines.size(), p.lines.size() + 5);
  EXPECT_FALSE(both.gradient_of(right)) << "the loss does not depend on it";
  EXPECT_FALSE(both.gradient_of(fork.input)) << "no parameter is before it";

  const std::vector<ValueId> parameters = {shared, left, right};
  std::vector<ValueId> gradients;
  for (const ValueId id : parameters) gradients.push_back(both.gradient_of(id));
  Optimizer optimizer;
  append_updates(both.program, parameters, gradients, optimizer);
  expect_valid(both.program);
  EXPECT_EQ(both.program.lines.size(), p.lines.size() + 7) << "one for each gradient";
}

TEST(Differentiate, RefusesWhatHasNoRule) {
  const ValueId x{2};  // a weight
  const ValueId y{3};
  const std::vector<std::pair<Operation, std::string>> cases = {
      {Copy{.x = x, .y = y}, "copy"},
      {Mean{.terms = {x}, .mean = y}, "mean"},
      {Linear{.input = x, .weight = x, .output = y}, "linear"},
      {Gemm{.a = x, .b = x, .c = y, .op_a = Transpose::yes}, "a transposed product"},
      {Relu{.x = x, .y = y}, ""}};
  for (const auto& [operation, name] : cases) {
    Differentiable d;
    d.add_weight("x");
    d.program.add({.name = "y", .shape = {3, 3}});
    d.program.append(operation);
    const ValueId losses = d.add_loss("loss", append_linear(d.program, "fc", d.input, y, {}, Activation::none));
    EXPECT_EQ(logic_error_of([&] { differentiate(d.program, losses); }),
              name.empty() ? "no error" : "there is no rule for the derivative of " + name);
  }
}

/// Processes that share the columns of a layer: each knows its part of the input's gradient.
TEST(Differentiate, AddsUpOverProcessesWhatTheyReplicate) {
  Differentiable d;
  Program& p = d.program;
  const ValueId first = d.add_weight("first");
  const ValueId second = d.add_weight("second");
  const ValueId hidden = append_linear(p, "fc1", d.input, first, {}, Activation::none);
  const ValueId copy = add_in_place(p, hidden, "copy");
  p.append(Replicate{.x = hidden, .y = copy});
  const ValueId outputs = append_linear(p, "fc2", copy, second, {}, Activation::none);
  p.append(AllReduce{.values = {outputs}});
  const Differentiated both = differentiate(p, d.add_loss("row losses", outputs));
  expect_valid(both.program);
  const std::vector<std::string> texts = texts_of(both.program);
  EXPECT_EQ(std::vector<std::string>(texts.begin() + 5, texts.end()),
            (std::vector<std::string>{"squared_error_backward  fc2/output, labels -> d fc2/output",
                                      "gemm  d fc2/output, second -> d copy", "gemm  copy, d fc2/output -> d second",
                                      "all_reduce  d copy -> d copy", "gemm  input, d copy -> d first"}));
}

}  // namespace
}  // namespace stagewise
