#include "04_minibatch/fuse/patterns.hpp"

namespace stagewise::minibatch {
namespace {

/// The line of this kind that reads a value.
template <typename Op>
std::optional<FoundActivation> find(const Rewriter& rewriter, ValueId value,
                                    Activation activation) {
  const auto line = rewriter.reader_of<Op>(value);
  if (!line) return std::nullopt;
  const Op& op = *rewriter.get<Op>(*line);
  if constexpr (requires { op.dx; }) {
    return FoundActivation{*line, activation, op.y, op.dx};
  } else {
    return FoundActivation{*line, activation, op.y, op.y};
  }
}

}  // namespace

std::optional<FoundActivation> activation_of(const Rewriter& rewriter, ValueId sum) {
  const auto relu = find<Relu>(rewriter, sum, Activation::relu);
  return relu ? relu : find<Sigmoid>(rewriter, sum, Activation::sigmoid);
}

std::optional<FoundActivation> activation_backward_of(const Rewriter& rewriter, ValueId doutput) {
  const auto relu = find<ReluBackward>(rewriter, doutput, Activation::relu);
  return relu ? relu : find<SigmoidBackward>(rewriter, doutput, Activation::sigmoid);
}

}  // namespace stagewise::minibatch
