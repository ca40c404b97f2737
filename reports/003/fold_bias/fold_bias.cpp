#include "reports/003/fold_bias/fold_bias.hpp"

#include <vector>

#include "network/rewriter.hpp"

namespace stagewise {

//! [fold_biases]
Program fold_biases(const Program& program) {
  Rewriter rewriter(program);
  for (std::size_t i = 0; i < rewriter.size(); ++i) {
    const auto* const add = rewriter.get<AddBias>(i);
    const auto product = add != nullptr ? rewriter.writer_of(add->x) : std::nullopt;
    const auto* const gemm = product ? rewriter.get<Gemm>(*product) : nullptr;
    if (gemm == nullptr) continue;
    const FoldedLinear folded = {
        .input = gemm->a, .weight = gemm->b, .bias = add->bias, .sum = add->y};
    if (rewriter.fuse({*product, i}, folded)) i = 0;

    // Backward pass: the product that computes the weight's gradient leads to the others.
    for (std::size_t k = 0; k < rewriter.size(); ++k) {
      const auto* const dweight = rewriter.get<Gemm>(k);
      if (dweight == nullptr || dweight->op_a == Transpose::no || dweight->a != folded.input) {
        continue;
      }
      const auto sums = rewriter.reader_of<ColumnSums>(dweight->b);
      if (!sums) continue;
      FoldedGradients gradients = {.input = folded.input,
                                   .weight = folded.weight,
                                   .bias = folded.bias,
                                   .dsum = dweight->b,
                                   .dinput = {},
                                   .dweight = dweight->c,
                                   .dbias = rewriter.get<ColumnSums>(*sums)->y};
      std::vector<std::size_t> members = {k, *sums};
      for (const std::size_t reader : rewriter.readers_of(folded.weight)) {
        const auto* const dinput = rewriter.get<Gemm>(reader);
        if (dinput == nullptr || dinput->a != gradients.dsum) continue;
        members.push_back(reader);
        gradients.dinput = dinput->c;
      }
      rewriter.fuse(members, gradients);
      break;
    }
  }
  return rewriter.finish();
}
//! [fold_biases]

}  // namespace stagewise
