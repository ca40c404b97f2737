#include <utility>

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

bool fuse_gather(Fusion& fusion, std::size_t i) {
  Rewriter& rewriter = fusion.rewriter;
  const auto* const found = rewriter.get<Gather>(i);
  if (found == nullptr) return false;
  const Gather gather = *found;
  std::vector<std::pair<std::size_t, Operation>> replacements;
  for (const ValueId read : written_by(gather)) {
    for (const std::size_t line : rewriter.readers_of(read)) {
      const auto replacement = picking(rewriter.program().lines[line].operation, gather);
      if (!replacement) return false;
      replacements.emplace_back(line, *replacement);
    }
  }
  for (const auto& [line, operation] : replacements) rewriter.replace(line, operation, {gather});
  rewriter.remove(i);
  return true;
}

}  // namespace stagewise::minibatch
