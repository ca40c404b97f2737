#include "04_minibatch/fuse/patterns.hpp"

namespace stagewise::minibatch {

bool fuse_linear_input_gradient(Fusion& fusion, std::size_t i) {
  Rewriter& rewriter = fusion.rewriter;
  const auto* const gemm = rewriter.get<Gemm>(i);
  if (gemm == nullptr || gemm->op_a == Transpose::yes || gemm->op_b == Transpose::no) return false;
  const LinearInputGradient product = {.doutput = gemm->a, .weight = gemm->b, .dinput = gemm->c};
  if (!fusion.fits(product.dinput, product.weight)) return false;

  if (const auto back = activation_backward_of(rewriter, product.dinput)) {
    LinearInputGradient fused = product;
    fused.input = back->output;
    fused.dinput = back->result;
    fused.input_activation = back->activation;
    if (rewriter.fuse({i, back->line}, fused)) return true;
  }
  return rewriter.fuse({i}, product).has_value();
}

}  // namespace stagewise::minibatch
