#include "04_minibatch/convolution/convolution.hpp"

#include "04_minibatch/fuse/patterns.hpp"

namespace stagewise::minibatch {
bool fuse_convolution(Fusion& fusion, std::size_t i) {
  Rewriter& rewriter = fusion.rewriter;
  const auto* const convolution = rewriter.get<Convolution>(i);
  if (convolution == nullptr) return false;
  ConvolutionReluPool fused = {.input = convolution->input, .filter = convolution->filter};
  ValueId sum = convolution->output;
  std::vector<std::size_t> members = {i};
  if (const auto add = rewriter.reader_of<AddBias>(sum)) {
    fused.bias = rewriter.get<AddBias>(*add)->bias;
    sum = rewriter.get<AddBias>(*add)->y;
    members.push_back(*add);
  }
  const auto relu = rewriter.reader_of<Relu>(sum);
  if (!relu) return false;
  fused.activated = rewriter.get<Relu>(*relu)->y;
  const auto pool = rewriter.reader_of<AveragePool>(fused.activated);
  if (!pool) return false;
  fused.output = rewriter.get<AveragePool>(*pool)->output;
  fused.window = rewriter.get<AveragePool>(*pool)->window;
  if (!can_fuse_pooling(fusion.convolution(fused.input, fused.filter), fused.window)) return false;
  members.insert(members.end(), {*relu, *pool});
  if (!is_read(rewriter.program(), fused.activated, members)) fused.activated = {};
  return rewriter.fuse(members, fused).has_value();
}

bool fuse_pool_backward(Fusion& fusion, std::size_t i) {
  Rewriter& rewriter = fusion.rewriter;
  const auto* const pool = rewriter.get<AveragePoolBackward>(i);
  if (pool == nullptr) return false;
  const auto relu = rewriter.reader_of<ReluBackward>(pool->dinput);
  if (!relu) return false;
  PoolReluBackward fused = {.activated = rewriter.get<ReluBackward>(*relu)->y,
                            .doutput = pool->doutput,
                            .dsum = rewriter.get<ReluBackward>(*relu)->dx,
                            .window = pool->window};
  // The kernel handles the same sizes as the forward kernel.
  const auto forward = rewriter.writer_of(fused.activated);
  if (!forward || rewriter.get<ConvolutionReluPool>(*forward) == nullptr) return false;
  std::vector<std::size_t> members = {i, *relu};
  if (const auto sums = rewriter.reader_of<ColumnSums>(fused.dsum)) {
    fused.dbias = rewriter.get<ColumnSums>(*sums)->y;
    members.push_back(*sums);
  }
  return rewriter.fuse(members, fused).has_value();
}

}  // namespace stagewise::minibatch
