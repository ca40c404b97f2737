/// @file
/// Stage 03 computes what stage 01 computes.

#include "03_shared_memory/kernels.hpp"
#include "03_shared_memory/shared_memory_executor.hpp"
#include "cross_stage/gemm_products.hpp"
#include "cross_stage/primitives.hpp"
#include "cuda/fast_divmod.cuh"

namespace stagewise {
namespace {

struct Default {
  static constexpr bool adds_in_order = false;
  template <typename T>
  static std::unique_ptr<Executor<T>> make() {
    return std::make_unique<SharedMemoryExecutor<T>>();
  }
};

const int stage03_primitives = register_primitives<Default>("Stage03");

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
  Workspace workspace;
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
