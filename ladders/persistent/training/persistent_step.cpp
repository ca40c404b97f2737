#include "ladders/persistent/training/persistent_step.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "04_minibatch/fuse/patterns.hpp"
#include "cuda/device.hpp"
#include "ladders/persistent/training/plan.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"

namespace stagewise::minibatch::persistent {
namespace {

/// A fully connected layer on the way forward.
struct Layer {
  ValueId weight;
  ValueId bias;
  ValueId output;
  Activation activation = Activation::none;
};

/// The layer that reads a value.
std::optional<Layer> layer_after(const Rewriter& rewriter, ValueId input) {
  std::optional<Layer> layer;
  for (const std::size_t line : rewriter.readers_of(input)) {
    const auto* const gemm = rewriter.get<Gemm>(line);
    const bool is_forward = gemm != nullptr && gemm->a == input && gemm->op_a == Transpose::no &&
                            gemm->op_b == Transpose::no;
    if (is_forward) layer = {.weight = gemm->b, .bias = {}, .output = gemm->c};
  }
  if (!layer) return std::nullopt;
  if (const auto add = rewriter.reader_of<AddBias>(layer->output)) {
    layer->bias = rewriter.get<AddBias>(*add)->bias;
    layer->output = rewriter.get<AddBias>(*add)->y;
  }
  if (const auto found = activation_of(rewriter, layer->output)) {
    layer->activation = found->activation;
    layer->output = found->output;
  }
  return layer;
}

template <typename Op, typename... Kinds>
constexpr bool is_one_of = (std::is_same_v<Op, Kinds> || ...);

/// Adds to the step what a line says, if a step of such a network has lines of this kind.
template <typename Op>
bool take(const Op& op, PersistentStep& step) {
  if constexpr (std::is_same_v<Op, Gather>) {
    step.features = op.features;
    step.labels = op.labels;
    step.order = op.order;
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
  return std::count_if(program.lines.begin(), program.lines.end(),
                       [](const Line& line) { return std::holds_alternative<Op>(line.operation); });
}

/// All of the program as one line, if it is a step of a network with one hidden layer and of
/// nothing else: two products forward and three backward, and an update of each parameter.
std::optional<PersistentStep> whole_step(const Rewriter& rewriter) {
  const Program& program = rewriter.program();
  PersistentStep step;
  const bool has_only_these =
      std::all_of(program.lines.begin(), program.lines.end(), [&](const Line& line) {
        return std::visit([&](const auto& op) { return take(op, step); }, line.operation);
      });
  if (!has_only_these || count<Gather>(program) != 1 || count<Accumulate>(program) != 1) {
    return std::nullopt;
  }
  const auto* const gather = rewriter.get<Gather>(0);
  if (gather == nullptr || program[gather->order].part.count > 1) return std::nullopt;
  const auto hidden = layer_after(rewriter, gather->batch);
  const auto last = hidden ? layer_after(rewriter, hidden->output) : std::nullopt;
  if (!last || layer_after(rewriter, last->output)) return std::nullopt;
  const int biases = (hidden->bias ? 1 : 0) + (last->bias ? 1 : 0);
  if (count<Gemm>(program) != 5 || count<ColumnSums>(program) != biases ||
      count<SgdUpdate>(program) != 2 + biases) {
    return std::nullopt;
  }
  step.hidden_weight = hidden->weight;
  step.hidden_bias = hidden->bias;
  step.hidden_activation = hidden->activation;
  step.weight = last->weight;
  step.bias = last->bias;
  step.at.activation = last->activation;
  return step;
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
  Rewriter rewriter(program);
  const auto step = whole_step(rewriter);
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
  std::vector<std::size_t> members(rewriter.size());
  std::iota(members.begin(), members.end(), std::size_t{0});
  rewriter.fuse(members, *step);
  return rewriter.finish();
}
//! [persistent_step]

template std::optional<Program> as_persistent_step<float>(const Program&, Index, Choice);
template std::optional<Program> as_persistent_step<double>(const Program&, Index, Choice);

}  // namespace stagewise::minibatch::persistent
