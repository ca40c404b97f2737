/// @file
/// Stage 03 with folded biases computes what stage 01 computes, with each kind of convolution.

#include <string>

#include "cross_stage/gpu_test.hpp"
#include "cross_stage/primitives.hpp"
#include "cross_stage/trainings.hpp"
#include "network/model.hpp"
#include "network/workers.hpp"
#include "reports/003/fold_bias/fold_bias_executor.hpp"
#include "unit/programs.hpp"

namespace stagewise {
namespace {

using namespace cross_stage;
using shared_memory::ConvolutionVariant;

template <typename T>
ComparedStage<T> folding(ConvolutionVariant form, FoldBias fold) {
  return {.make = [=] { return std::make_unique<FoldBiasExecutor<T>>(SharedMemoryOptions{.convolution = form}, fold); },
          .rewrite = [](const Program& program, Index /*max_rows*/) { return fold_biases(program); }};
}

int register_folding(const std::string& name, ConvolutionVariant form, FoldBias fold) {
  return register_primitives(name, folding<float>(form, fold), folding<double>(form, fold));
}

const int direct = register_folding("Stage03Direct", ConvolutionVariant::direct, FoldBias::in_place);
const int implicit = register_folding("Stage03Implicit", ConvolutionVariant::implicit, FoldBias::out_of_place);

template <typename T>
void expect_trains_as_stage_01(FoldBias fold, const std::string& beginning) {
  for (const TrainingCase& one : cases_named(beginning)) {
    auto executor = std::make_unique<FoldBiasExecutor<T>>(SharedMemoryOptions(), fold);
    expect_same_outcome<T>(train_program<T>(std::move(executor), one, {}, fold_biases), train_serially<T>(one),
                           one.name);
  }
}

TEST(FoldBiases, TrainsAsStage01) {
  if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  for (const FoldBias fold : {FoldBias::in_place, FoldBias::out_of_place}) {
    expect_trains_as_stage_01<float>(fold, "mlp");
    expect_trains_as_stage_01<double>(fold, "");
  }
}

/// Every layer becomes one line, and its gradients another; of the first layer nobody needs the
/// input's.
TEST(FoldBiases, MakesOneProductOfALayer) {
  const Program step = step_of({.hidden = {5}, .sample = {3}, .classes = 2});
  EXPECT_EQ(names_of(fold_biases(step)),
            "gather folded_linear relu folded_linear softmax_cross_entropy argmax accumulate "
            "softmax_cross_entropy_backward folded_gradients relu_backward folded_gradients "
            "sgd_update sgd_update sgd_update sgd_update");
}

}  // namespace
}  // namespace stagewise
