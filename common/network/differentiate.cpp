#include "network/differentiate.hpp"

#include <stdexcept>

namespace stagewise {
namespace {

/// Where the rules find gradients and put their lines.
class Backward {
 public:
  Backward(const Program& forward, ValueId row_losses)
      : program_(forward), row_losses_(row_losses), contributions_(forward.values.size()) {
    requires_.resize(forward.values.size());
    for (std::size_t i = 0; i < forward.values.size(); ++i) {
      requires_[i] = is_parameter(forward.values[i].role);
    }
    for (const Line& line : forward.lines) {
      bool depends = false;
      for (const ValueId id : read_by(line.operation)) depends = depends || requires_[at(id)];
      for (const ValueId id : written_by(line.operation)) requires_[at(id)] = depends;
    }
  }

  /// Whether the loss is differentiated with respect to this value.
  bool wants(ValueId id) const { return id && requires_[at(id)]; }

  /// Whether the loss depends on this value, as far as the walk has come.
  bool reaches(ValueId id) const { return !contributions_[at(id)].empty(); }

  bool is_loss(ValueId id) const { return id == row_losses_; }

  /// A new gradient for a value, to be written by the rule; none if it is not needed.
  /// @param in_memory_of a gradient that nobody reads afterwards; none for memory of its own.
  ValueId contribute(ValueId to, ValueId in_memory_of = {}) {
    if (!wants(to)) return {};
    auto& contributions = contributions_[at(to)];
    Value value = program_[to];
    value.name = "d " + value.name;
    if (!contributions.empty()) value.name += ", part " + std::to_string(contributions.size() + 1);
    value.role = Role::gradient;
    value.memory_of = in_memory_of;
    contributions.push_back(program_.add(std::move(value)));
    return contributions.back();
  }

  /// The gradient of `to` is that of another value, as it is.
  void pass_on(ValueId to, ValueId gradient) {
    if (wants(to)) contributions_[at(to)].push_back(gradient);
  }

  /// The gradient of a value whose readers have all contributed.
  ValueId gradient(ValueId of) {
    auto& contributions = contributions_[at(of)];
    if (contributions.size() > 1) {
      Value value = program_[of];
      value.name = "d " + value.name + ", sum";
      value.role = Role::gradient;
      value.memory_of = {};
      const ValueId sum = program_.add(std::move(value));
      append(Sum{.terms = {contributions.begin(), contributions.end()}, .sum = sum});
      contributions = {sum};
    }
    return contributions.front();
  }

  void append(Operation operation) { program_.append(std::move(operation)); }

  Differentiated finish() {
    for (int i = 0; i < static_cast<int>(contributions_.size()); ++i) {
      if (reaches({i})) gradient({i});
    }
    Differentiated result{.program = std::move(program_), .gradients = {}};
    result.gradients.resize(result.program.values.size());
    for (std::size_t i = 0; i < contributions_.size(); ++i) {
      if (!contributions_[i].empty()) result.gradients[i] = contributions_[i].front();
    }
    return result;
  }

 private:
  static std::size_t at(ValueId id) { return static_cast<std::size_t>(id.index); }

  Program program_;
  ValueId row_losses_;
  std::vector<bool> requires_;
  std::vector<std::vector<ValueId>> contributions_;  ///< to the gradient of each value
};

// ------------------------------------------------------------------------------------- the rules

//! [gemm]
/// C = A B: dA = dC B^T, dB = A^T dC.
void differentiate(const Gemm& op, Backward& backward) {
  if (op.op_a != Transpose::no || op.op_b != Transpose::no) {
    throw std::logic_error("there is no rule for the derivative of a transposed product");
  }
  const ValueId dc = backward.gradient(op.c);
  if (const ValueId da = backward.contribute(op.a)) {
    backward.append(Gemm{.a = dc, .b = op.b, .c = da, .op_b = Transpose::yes});
  }
  if (const ValueId db = backward.contribute(op.b)) {
    backward.append(Gemm{.a = op.a, .b = dc, .c = db, .op_a = Transpose::yes});
  }
}
//! [gemm]

/// y = x + bias: dx = dy, dbias = its column sums.
void differentiate(const AddBias& op, Backward& backward) {
  const ValueId dy = backward.gradient(op.y);
  if (const ValueId dbias = backward.contribute(op.bias)) {
    backward.append(ColumnSums{.x = dy, .y = dbias});
  }
  backward.pass_on(op.x, dy);
}

//! [activation]
/// dx = dy activation'(x), in the memory of dy.
template <Activation activation>
void differentiate(const Activate<activation>& op, Backward& backward) {
  const ValueId dy = backward.gradient(op.y);
  if (const ValueId dx = backward.contribute(op.x, dy)) {
    backward.append(ActivateBackward<activation>{.y = op.y, .dy = dy, .dx = dx});
  }
}
//! [activation]

void differentiate(const SoftmaxCrossEntropy& op, Backward& backward) {
  if (!backward.is_loss(op.row_losses)) return;
  if (const ValueId dlogits = backward.contribute(op.logits)) {
    backward.append(
        SoftmaxCrossEntropyBackward{.probabilities = op.probabilities, .labels = op.labels, .dlogits = dlogits});
  }
}

void differentiate(const SquaredError& op, Backward& backward) {
  if (!backward.is_loss(op.row_losses)) return;
  if (const ValueId doutputs = backward.contribute(op.outputs)) {
    backward.append(SquaredErrorBackward{.outputs = op.outputs, .labels = op.labels, .doutputs = doutputs});
  }
}

void differentiate(const Convolution& op, Backward& backward) {
  const ValueId doutput = backward.gradient(op.output);
  const ValueId dinput = backward.contribute(op.input);
  const ValueId dfilter = backward.contribute(op.filter);
  backward.append(ConvolutionBackward{
      .input = op.input, .filter = op.filter, .doutput = doutput, .dinput = dinput, .dfilter = dfilter});
}

void differentiate(const AveragePool& op, Backward& backward) {
  const ValueId doutput = backward.gradient(op.output);
  if (const ValueId dinput = backward.contribute(op.input)) {
    backward.append(AveragePoolBackward{.doutput = doutput, .dinput = dinput, .window = op.window});
  }
}

//! [all_reduce]
/// What the loss says about a sum it says about each of the summands: the gradient passes through.
/// It is in place, so there is nothing to name.
void differentiate(const AllReduce& /*op*/, Backward& /*backward*/) {}

/// Each process knows what its own part says about x; the gradient is the sum of it all.
void differentiate(const Replicate& op, Backward& backward) {
  const ValueId dy = backward.gradient(op.y);
  if (!backward.wants(op.x)) return;
  backward.append(AllReduce{.values = {dy}, .among = Group::tensor});
  backward.pass_on(op.x, dy);
}
//! [all_reduce]

/// What has no derivative stands behind the loss: where the walk comes to it, nothing depends on
/// it.
template <typename Op>
void differentiate(const Op& op,
                   Backward& /*backward*/) requires(std::is_same_v<Op, Gather> || std::is_same_v<Op, ArgMax> ||
                                                    std::is_same_v<Op, Threshold> || std::is_same_v<Op, Accumulate>) {
  static_cast<void>(op);
}

/// Without a rule, a gradient would be lost silently.
template <typename Op>
concept HasRule = requires(const Op& op, Backward& backward) {
  differentiate(op, backward);
};

}  // namespace

//! [differentiate]
Differentiated differentiate(const Program& forward, ValueId row_losses) {
  Backward backward(forward, row_losses);
  for (std::size_t i = forward.lines.size(); i-- > 0;) {
    const Operation& operation = forward.lines[i].operation;
    bool takes_part = false;
    for (const ValueId id : written_by(operation)) {
      takes_part = takes_part || backward.is_loss(id) || (backward.wants(id) && backward.reaches(id));
    }
    if (!takes_part) continue;
    std::visit(
        [&](const auto& op) {
          if constexpr (HasRule<std::decay_t<decltype(op)>>) {
            differentiate(op, backward);
          } else {
            throw std::logic_error("there is no rule for the derivative of " + std::string(op.name));
          }
        },
        operation);
  }
  return backward.finish();
}
//! [differentiate]

}  // namespace stagewise
