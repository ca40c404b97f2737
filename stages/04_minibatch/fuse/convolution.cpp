#include "04_minibatch/convolution/convolution.hpp"

#include "04_minibatch/fuse/patterns.hpp"

namespace stagewise::minibatch {
bool fuse_convolution(Fusion& fusion, std::size_t i) {
  const auto* const convolution = fusion.rewriter.get<Convolution>(i);
  if (convolution == nullptr) return false;
  ConvolutionReluPool fused = {.input = convolution->input, .filter = convolution->filter};
  ValueId sum = convolution->output;
  std::vector<std::size_t> members = {i};
  if (const auto* const add = fusion.take_reader<AddBias>(sum, members)) {
    fused.bias = add->bias;
    sum = add->y;
  }
  const auto* const relu = fusion.take_reader<Relu>(sum, members);
  if (relu == nullptr) return false;
  const auto* const pool = fusion.take_reader<AveragePool>(relu->y, members);
  if (pool == nullptr) return false;
  fused.activated = relu->y;
  fused.output = pool->output;
  fused.window = pool->window;
  if (!can_fuse_pooling(fusion.convolution(fused.input, fused.filter), fused.window)) return false;
  if (!is_read(fusion.rewriter.program(), fused.activated, members)) fused.activated = {};
  return fusion.rewriter.fuse(members, fused).has_value();
}

bool fuse_pool_backward(Fusion& fusion, std::size_t i) {
  const auto* const pool = fusion.rewriter.get<AveragePoolBackward>(i);
  if (pool == nullptr) return false;
  std::vector<std::size_t> members = {i};
  const auto* const relu = fusion.take_reader<ReluBackward>(pool->dinput, members);
  if (relu == nullptr) return false;
  PoolReluBackward fused = {
      .activated = relu->y, .doutput = pool->doutput, .dsum = relu->dx, .window = pool->window};
  // The kernel handles the same sizes as the forward kernel.
  const auto forward = fusion.rewriter.writer_of(fused.activated);
  if (!forward || fusion.rewriter.get<ConvolutionReluPool>(*forward) == nullptr) return false;
  if (const auto* const sums = fusion.take_reader<ColumnSums>(fused.dsum, members)) {
    fused.dbias = sums->y;
  }
  return fusion.rewriter.fuse(members, fused).has_value();
}

}  // namespace stagewise::minibatch
