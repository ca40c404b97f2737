#include "04_minibatch/fuse/patterns.hpp"

namespace stagewise::minibatch {

//! [linear]
bool fuse_linear(Fusion& fusion, std::size_t i) {
  Rewriter& rewriter = fusion.rewriter;
  const auto* const gemm = rewriter.get<Gemm>(i);
  if (gemm == nullptr || gemm->op_a == Transpose::yes || gemm->op_b == Transpose::yes) return false;
  const Linear product = {.input = gemm->a, .weight = gemm->b, .output = gemm->c};
  if (!fusion.fits(product.input, product.weight)) return false;

  Linear layer = product;
  std::vector<std::size_t> members = {i};
  if (const auto add = rewriter.reader_of<AddBias>(layer.output)) {
    layer.bias = rewriter.get<AddBias>(*add)->bias;
    layer.output = rewriter.get<AddBias>(*add)->y;
    members.push_back(*add);
  }
  if (const auto found = activation_of(rewriter, layer.output)) {
    layer.activation = found->activation;
    layer.output = found->output;
    members.push_back(found->line);
  }
  if (rewriter.fuse(members, layer)) return true;
  // Another line comes in between, such as a sum over processes.
  return rewriter.fuse({i}, product).has_value();
}
//! [linear]

}  // namespace stagewise::minibatch
