#include "04_minibatch/fuse/patterns.hpp"
#include "04_minibatch/output_layer/output_layer.hpp"

namespace stagewise::minibatch {
namespace {

/// Adds the value in which the kernel leaves the gradients of the layer's parameters.
ValueId add_shares_of(Fusion& fusion, const OutputLayer& layer) {
  const Value& partials = fusion.value(layer.partials);
  const std::string of_worker = partials.name.substr(std::string("partials").size());
  const Shape& weight = fusion.value(layer.weight).shape;
  return fusion.rewriter.add(
      {.name = "shares" + of_worker,
       .shape = {max_shares(fusion.rows_of(layer.partials)), shares_length(weight[0], weight[1])},
       .role = Role::gradient,
       .part = partials.part});
}

/// Lets the last line of the same worker that computes gradients add up the shares, too.
void append_to_gradients(Fusion& fusion, std::size_t line) {
  Rewriter& rewriter = fusion.rewriter;
  const AddShares add = *rewriter.get<AddShares>(line);
  for (std::size_t k = rewriter.size(); k-- > 0;) {
    const auto* const other = rewriter.get<LinearGradients>(k);
    if (other == nullptr || other->last.shares) continue;
    if (!(fusion.value(other->doutput).part == fusion.value(add.partials).part)) continue;
    LinearGradients both = *other;
    both.last = add;
    if (rewriter.fuse({line, k}, both)) return;
  }
}

}  // namespace

//! [shares]
bool fuse_shares(Fusion& fusion, std::size_t i) {
  Rewriter& rewriter = fusion.rewriter;
  const auto* const found = rewriter.get<OutputLayer>(i);
  if (found == nullptr || found->shares || !found->doutput) return false;
  OutputLayer layer = *found;
  const auto gradients = rewriter.reader_of<LinearGradients>(layer.doutput);
  const auto partials = rewriter.reader_of<AddPartials>(layer.partials);
  if (!gradients || !partials) return false;
  const LinearGradients update = *rewriter.get<LinearGradients>(*gradients);
  if (!update.weight || !(update.input == layer.input)) return false;

  layer.shares = add_shares_of(fusion, layer);
  layer.doutput = {};
  AddShares add = {.shares = layer.shares,
                   .partials = layer.partials,
                   .weight = update.weight,
                   .bias = update.bias,
                   .totals = rewriter.get<AddPartials>(*partials)->totals,
                   .learning_rate = update.learning_rate,
                   .l2 = update.l2};
  const auto line = rewriter.fuse({i, *gradients}, layer, written_by(add));
  if (!line) return false;
  rewriter.split_off<SgdUpdate>(*line, add);
  const auto both =
      rewriter.fuse({*line + 1, *rewriter.reader_of<AddPartials>(layer.partials)}, add);
  if (both) append_to_gradients(fusion, *both);
  return true;
}
//! [shares]

}  // namespace stagewise::minibatch
