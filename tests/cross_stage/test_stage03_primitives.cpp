/// @file
/// Stage 03 computes what stage 01 computes, in each of its variants.

#include "cross_stage/gemm_products.hpp"
#include "cross_stage/primitives.hpp"
#include "cuda/fast_divmod.cuh"
#include "network/workers.hpp"
#include "reports/003/fold_bias/fold_bias_executor.hpp"

namespace stagewise {
namespace {

using shared_memory::ConvolutionVariant;
using shared_memory::FoldBias;

// The names of these are part of the tests'.
struct Default {
  static constexpr bool adds_in_order = false;
  template <typename T>
  static std::unique_ptr<Executor<T>> make() {
    return std::make_unique<SharedMemoryExecutor<T>>();
  }
};

template <ConvolutionVariant Form, FoldBias Fold>
struct Folding {
  static constexpr bool adds_in_order = false;
  template <typename T>
  static std::unique_ptr<Executor<T>> make() {
    return std::make_unique<FoldBiasExecutor<T>>(SharedMemoryOptions{.convolution = Form}, Fold);
  }
  template <typename T>
  static Program rewrite(const Program& program, Index /*max_rows*/) {
    return shared_memory::fold_biases(program);
  }
};
struct Direct : Folding<ConvolutionVariant::direct, FoldBias::in_place> {};
struct Implicit : Folding<ConvolutionVariant::implicit, FoldBias::out_of_place> {};

INSTANTIATE_TYPED_TEST_SUITE_P(Stage03, Primitives, StageTypes<Default>, StageNames);
INSTANTIATE_TYPED_TEST_SUITE_P(Stage03Direct, Primitives, StageTypes<Direct>, StageNames);
INSTANTIATE_TYPED_TEST_SUITE_P(Stage03Implicit, Primitives, StageTypes<Implicit>, StageNames);

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

template <typename T>
class SharedMemoryKernels : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  }
};

TYPED_TEST_SUITE(SharedMemoryKernels, Precisions, PrecisionNames);

/// By the rung that is picked for each, with alpha and beta.
TYPED_TEST(SharedMemoryKernels, Gemm) {
  using T = TypeParam;
  shared_memory::Workspace workspace;
  cross_stage::expect_gemm_products<T>(
      [&](const GemmProblem<T>& problem) { shared_memory::gemm(nullptr, problem, workspace); });
}

TEST(FastDivmod, DividesAsTheProcessorDoes) {
  constexpr int most = std::numeric_limits<int>::max();
  for (const int divisor :
       {1, 2, 3, 5, 7, 10, 25, 28, 64, 641, 65'535, 65'536, 65'537, most / 2, most - 1, most}) {
    const cuda::FastDivmod by(divisor);
    for (const int number : {0, 1, 2, 3, divisor - 1, divisor, most / 3, most - 1, most}) {
      EXPECT_EQ(by.divide(number).quotient, number / divisor) << number << " / " << divisor;
      EXPECT_EQ(by.divide(number).remainder, number % divisor) << number << " / " << divisor;
    }
    Random random(static_cast<std::uint64_t>(divisor));
    for (int i = 0; i < 2000; ++i) {
      const auto number = static_cast<int>(random.below(std::uint64_t{1} << 31U));
      ASSERT_EQ(by.divide(number).quotient, number / divisor) << number << " / " << divisor;
    }
  }
}

}  // namespace
}  // namespace stagewise
