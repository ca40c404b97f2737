#include "04_minibatch/fuse/patterns.hpp"
#include "04_minibatch/linear/linear.hpp"

namespace stagewise::minibatch {
namespace {

/// The line of this kind that reads a value.
template <template <Activation> typename Op>
std::optional<FoundActivation> find(const Rewriter& rewriter, ValueId value) {
  std::optional<FoundActivation> found;
  for_each_activation([&]<Activation activation>() {
    const auto line = rewriter.reader_of<Op<activation>>(value);
    if (!line || !computes(activation)) return;
    const Operation& op = rewriter.program().lines[*line].operation;
    found = {*line, activation, std::get<Op<activation>>(op).y, written_by(op).front()};
  });
  return found;
}

}  // namespace

std::optional<FoundActivation> activation_of(const Rewriter& rewriter, ValueId sum) {
  return find<Activate>(rewriter, sum);
}

std::optional<FoundActivation> activation_backward_of(const Rewriter& rewriter, ValueId doutput) {
  return find<ActivateBackward>(rewriter, doutput);
}

}  // namespace stagewise::minibatch
