/// @file
/// Stage 03 with folded biases computes what stage 01 computes, with each kind of convolution.

#include <string>
#include <vector>

#include "cross_stage/primitives.hpp"
#include "network/model.hpp"
#include "network/workers.hpp"
#include "reports/003/fold_bias/fold_bias_executor.hpp"

namespace stagewise {
namespace {

using shared_memory::ConvolutionVariant;
using shared_memory::FoldBias;

template <ConvolutionVariant form, FoldBias fold>
struct Folding {
  static constexpr bool adds_in_order = false;
  template <typename T>
  static std::unique_ptr<Executor<T>> make() {
    return std::make_unique<FoldBiasExecutor<T>>(SharedMemoryOptions{.convolution = form}, fold);
  }
  template <typename T>
  static Program rewrite(const Program& program, Index /*max_rows*/) {
    return shared_memory::fold_biases(program);
  }
};
struct Direct : Folding<ConvolutionVariant::direct, FoldBias::in_place> {};
struct Implicit : Folding<ConvolutionVariant::implicit, FoldBias::out_of_place> {};

const int stage03_direct_primitives = register_primitives<Direct>("Stage03Direct");
const int stage03_implicit_primitives = register_primitives<Implicit>("Stage03Implicit");

/// Every layer becomes one line, and its gradients another; of the first layer nobody needs the
/// input's.
TEST(FoldBiases, MakesOneProductOfALayer) {
  const Model model = build_model({.hidden = {5}, .sample = {3}, .classes = 2});
  const Program step = build_training(model, {}, {}).step;
  std::vector<std::string> names;
  for (const Line& line : shared_memory::fold_biases(step).lines) {
    names.emplace_back(name_of(line.operation));
  }
  const std::vector<std::string> expected = {"gather",
                                             "folded_linear",
                                             "relu",
                                             "folded_linear",
                                             "softmax_cross_entropy",
                                             "argmax",
                                             "accumulate",
                                             "softmax_cross_entropy_backward",
                                             "folded_gradients",
                                             "relu_backward",
                                             "folded_gradients",
                                             "sgd_update",
                                             "sgd_update",
                                             "sgd_update",
                                             "sgd_update"};
  EXPECT_EQ(names, expected);
}

}  // namespace
}  // namespace stagewise
