#include "04_minibatch/fuse/patterns.hpp"

namespace stagewise::minibatch {
namespace {

/// Makes the line update the parameters as well, if both updates directly follow their gradients.
/// @param members the lines of the gradients.
bool fuse_updating(Rewriter& rewriter, LinearGradients gradients,
                   std::vector<std::size_t> members) {
  const auto take = [&](Writes<Real>& gradient, Updates<Real>& parameter) {
    if (!gradient) return true;  // a layer without a bias
    const auto line = rewriter.reader_of<SgdUpdate>(gradient);
    if (!line) return false;
    const SgdUpdate& update = *rewriter.get<SgdUpdate>(*line);
    parameter = update.parameter;
    gradients.learning_rate = update.learning_rate;
    gradients.l2 = std::max(gradients.l2, update.l2);  // that of the weight: a bias has none
    gradient = {};
    members.push_back(*line);
    return true;
  };
  return take(gradients.dweight, gradients.weight) && take(gradients.dbias, gradients.bias) &&
         rewriter.fuse(members, gradients);
}

}  // namespace

//! [gradients]
bool fuse_linear_gradients(Fusion& fusion, std::size_t i) {
  Rewriter& rewriter = fusion.rewriter;
  const auto* const gemm = rewriter.get<Gemm>(i);
  if (gemm == nullptr || gemm->op_a == Transpose::no || gemm->op_b == Transpose::yes) return false;
  LinearGradients gradients = {.input = gemm->a, .doutput = gemm->b, .dweight = gemm->c};
  if (!fusion.fits(gradients.input, gradients.dweight)) return false;

  std::vector<std::size_t> members = {i};
  if (const auto sums = rewriter.reader_of<ColumnSums>(gradients.doutput)) {
    gradients.dbias = rewriter.get<ColumnSums>(*sums)->y;
    members.push_back(*sums);
  }
  return fuse_updating(rewriter, gradients, members) ||
         rewriter.fuse(members, gradients).has_value();
}
//! [gradients]

}  // namespace stagewise::minibatch
