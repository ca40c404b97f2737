#include "04_minibatch/fuse/patterns.hpp"

namespace stagewise::minibatch {
namespace {

/// The operation, with rows read directly from the data set; none if it has no kernel for that.
std::optional<Operation> picking(Operation operation, const Gather& gather) {
  const auto pick = [&]<typename Op>(auto Op::*operand, ValueId from) {
    auto* const op = std::get_if<Op>(&operation);
    if (op == nullptr) return;
    op->*operand = from;
    op->order = gather.order;
  };
  pick(&Linear::input, gather.features);
  pick(&LinearGradients::input, gather.features);
  pick(&Loss::labels, gather.labels);
  pick(&OutputLayer::labels, gather.labels);
  for (const ValueId id : read_by(operation)) {
    if (id == gather.batch || id == gather.batch_labels) return std::nullopt;
  }
  return operation;
}

}  // namespace

//! [gather]
bool fuse_gather(Fusion& fusion, std::size_t i) {
  Rewriter& rewriter = fusion.rewriter;
  const auto* const found = rewriter.get<Gather>(i);
  if (found == nullptr) return false;
  const Gather gather = *found;
  std::vector<std::size_t> readers = rewriter.readers_of(gather.batch);
  const std::vector<std::size_t> of_labels = rewriter.readers_of(gather.batch_labels);
  readers.insert(readers.end(), of_labels.begin(), of_labels.end());

  std::vector<Operation> replacements;
  for (const std::size_t line : readers) {
    const auto replacement = picking(rewriter.program().lines[line].operation, gather);
    if (!replacement) return false;
    replacements.push_back(*replacement);
  }
  for (std::size_t k = 0; k < readers.size(); ++k) {
    rewriter.replace(readers[k], replacements[k], {gather});
  }
  rewriter.remove(i);
  return true;
}
//! [gather]

}  // namespace stagewise::minibatch
