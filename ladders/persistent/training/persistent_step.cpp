#include "ladders/persistent/training/persistent_step.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "cuda/device.hpp"
#include "ladders/persistent/training/plan.hpp"
#include "network/rewriter.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"

namespace stagewise::minibatch::persistent {
namespace {

template <typename Op, typename... Kinds>
constexpr bool is_one_of = (std::is_same_v<Op, Kinds> || ...);

/// Adds to the step what a line says, if a step of such a network has lines of this kind. Lines
/// come in their order: those of the hidden layer, those of the last one, and the way back.
template <typename Op>
bool take(const Op& op, PersistentStep& step) {
  const bool is_of_last = static_cast<bool>(step.weight);
  if constexpr (std::is_same_v<Op, Gather>) {
    step.features = op.features;
    step.labels = op.labels;
    step.order = op.order;
  } else if constexpr (std::is_same_v<Op, Gemm>) {
    if (!step.hidden_weight) {
      step.hidden_weight = op.b;
    } else if (!is_of_last) {
      step.weight = op.b;
    }
  } else if constexpr (std::is_same_v<Op, AddBias>) {
    (is_of_last ? step.bias : step.hidden_bias) = op.bias;
  } else if constexpr (is_one_of<Op, Relu, Sigmoid>) {
    (is_of_last ? step.at.activation : step.hidden_activation) =
        std::is_same_v<Op, Relu> ? Activation::relu : Activation::sigmoid;
  } else if constexpr (std::is_same_v<Op, SquaredError>) {
    step.at.loss = LossKind::squared_error;
  } else if constexpr (std::is_same_v<Op, Threshold>) {
    step.at.threshold = op.threshold;
  } else if constexpr (std::is_same_v<Op, Accumulate>) {
    step.totals = op.totals;
  } else if constexpr (std::is_same_v<Op, SgdUpdate>) {
    step.learning_rate = op.learning_rate;
    step.l2 = std::max(step.l2, op.l2);
  }
  return is_one_of<Op, Gather, Gemm, AddBias, ColumnSums, Relu, ReluBackward, Sigmoid,
                   SigmoidBackward, SoftmaxCrossEntropy, SoftmaxCrossEntropyBackward, SquaredError,
                   SquaredErrorBackward, ArgMax, Threshold, Accumulate, SgdUpdate>;
}

/// How many lines of a kind there are.
template <typename Op>
std::ptrdiff_t count(const Program& program) {
  return std::ranges::count_if(
      program.lines, [](const Line& line) { return std::holds_alternative<Op>(line.operation); });
}

/// All of the program as one line, if it is a step of a network with one hidden layer and of
/// nothing else: two products forward and three backward, and an update of each parameter.
std::optional<PersistentStep> whole_step(const Program& program) {
  PersistentStep step;
  const bool has_only_these = std::ranges::all_of(program.lines, [&](const Line& line) {
    return std::visit([&](const auto& op) { return take(op, step); }, line.operation);
  });
  const int biases = (step.hidden_bias ? 1 : 0) + (step.bias ? 1 : 0);
  const bool is_whole =
      has_only_these && count<Gather>(program) == 1 && count<Accumulate>(program) == 1 &&
      count<Gemm>(program) == 5 && count<ColumnSums>(program) == biases &&
      count<SgdUpdate>(program) == 2 + biases && program[step.order].part.count <= 1;
  return is_whole ? std::optional(step) : std::nullopt;
}

std::string text_of(const MlpShape& shape) {
  return std::to_string(shape.in) + "-" + std::to_string(shape.hidden) + "-" +
         std::to_string(shape.out);
}

}  // namespace

//! [persistent_step]
template <typename T>
std::optional<Program> as_persistent_step(const Program& program, Index max_rows, Choice choice) {
  // Where the CPU plays the GPU, a launch costs nothing, and a block that waits keeps others away.
  const bool is_slower = choice == Choice::automatic && cuda::runs_on_cpu();
  if (choice == Choice::never || is_slower) return std::nullopt;
  const auto step = whole_step(program);
  if (!step) return std::nullopt;
  const MlpShape shape = {.in = program[step->hidden_weight].shape[0],
                          .hidden = program[step->hidden_weight].shape[1],
                          .out = program[step->weight].shape[1],
                          .rows = max_rows};
  const auto plan = plan_blocks<T>(shape);
  if (!plan && choice == Choice::always) {
    throw Error("no persistent kernel for " + text_of(shape) + " and batches of " +
                count_of(shape.rows, "sample") + " fits onto this GPU");
  }
  if (!plan || (choice == Choice::automatic && !is_faster<T>(*plan, shape))) return std::nullopt;
  Rewriter rewriter(program);
  std::vector<std::size_t> members(rewriter.size());
  std::iota(members.begin(), members.end(), std::size_t{0});
  rewriter.fuse(members, *step);
  return rewriter.finish();
}
//! [persistent_step]

template std::optional<Program> as_persistent_step<float>(const Program&, Index, Choice);
template std::optional<Program> as_persistent_step<double>(const Program&, Index, Choice);

}  // namespace stagewise::minibatch::persistent
