#include "04_minibatch/fuse/patterns.hpp"

namespace stagewise::minibatch {
namespace {

/// Line `i` if it is a product of this form, else null.
const Gemm* product_at(const Rewriter& rewriter, std::size_t i, Transpose op_a, Transpose op_b) {
  const auto* const gemm = rewriter.get<Gemm>(i);
  return gemm != nullptr && gemm->op_a == op_a && gemm->op_b == op_b ? gemm : nullptr;
}

/// Makes the line update the parameters as well, if both updates directly follow their gradients.
/// @param members the lines of the gradients.
bool fuse_updating(Fusion& fusion, LinearGradients gradients, std::vector<std::size_t> members) {
  const auto take = [&](Writes<Real>& gradient, Updates<Real>& parameter) {
    if (!gradient) return true;  // a layer without a bias
    const auto* const update = fusion.take_reader<SgdUpdate>(gradient, members);
    if (update == nullptr) return false;
    parameter = update->parameter;
    gradients.learning_rate = update->learning_rate;
    gradients.l2 = std::max(gradients.l2, update->l2);  // that of the weight: a bias has none
    gradient = {};
    return true;
  };
  return take(gradients.dweight, gradients.weight) && take(gradients.dbias, gradients.bias) &&
         fusion.rewriter.fuse(members, gradients);
}

}  // namespace

//! [linear]
bool fuse_linear(Fusion& fusion, std::size_t i) {
  const auto* const gemm = product_at(fusion.rewriter, i, Transpose::no, Transpose::no);
  if (gemm == nullptr || !fusion.fits(gemm->a, gemm->b)) return false;

  const Linear product = {.input = gemm->a, .weight = gemm->b, .output = gemm->c};
  Linear layer = product;
  std::vector<std::size_t> members = {i};
  if (const auto* const add = fusion.take_reader<AddBias>(layer.output, members)) {
    layer.bias = add->bias;
    layer.output = add->y;
  }
  if (const auto found = activation_of(fusion.rewriter, layer.output)) {
    layer.activation = found->activation;
    layer.output = found->output;
    members.push_back(found->line);
  }
  // Only the product if another line comes in between, such as a sum over processes.
  return fusion.rewriter.fuse(members, layer) || fusion.rewriter.fuse({i}, product);
}
//! [linear]

bool fuse_linear_input_gradient(Fusion& fusion, std::size_t i) {
  const auto* const gemm = product_at(fusion.rewriter, i, Transpose::no, Transpose::yes);
  if (gemm == nullptr || !fusion.fits(gemm->c, gemm->b)) return false;

  const LinearInputGradient product = {.doutput = gemm->a, .weight = gemm->b, .dinput = gemm->c};
  if (const auto back = activation_backward_of(fusion.rewriter, product.dinput)) {
    LinearInputGradient fused = product;
    fused.input = back->output;
    fused.dinput = back->result;
    fused.input_activation = back->activation;
    if (fusion.rewriter.fuse({i, back->line}, fused)) return true;
  }
  return fusion.rewriter.fuse({i}, product).has_value();
}

//! [gradients]
bool fuse_linear_gradients(Fusion& fusion, std::size_t i) {
  const auto* const gemm = product_at(fusion.rewriter, i, Transpose::yes, Transpose::no);
  if (gemm == nullptr || !fusion.fits(gemm->a, gemm->c)) return false;

  LinearGradients gradients = {.input = gemm->a, .doutput = gemm->b, .dweight = gemm->c};
  std::vector<std::size_t> members = {i};
  if (const auto* const sums = fusion.take_reader<ColumnSums>(gradients.doutput, members)) {
    gradients.dbias = sums->y;
  }
  return fuse_updating(fusion, gradients, members) || fusion.rewriter.fuse(members, gradients);
}
//! [gradients]

}  // namespace stagewise::minibatch
