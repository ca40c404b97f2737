/// @file
/// Stages 02, 03 and 04 compute what stage 01 computes.

#include "02_naive_cuda/kernels.hpp"
#include "02_naive_cuda/naive_cuda_executor.hpp"
#include "03_shared_memory/shared_memory_executor.hpp"
#include "04_minibatch/fuse/fuse.hpp"
#include "04_minibatch/minibatch_executor.hpp"
#include "cross_stage/cuda_array.hpp"
#include "cross_stage/gpu_test.hpp"
#include "cross_stage/primitives.hpp"
#include "cuda/fast_divmod.cuh"
#include "support.hpp"

namespace stagewise {
namespace {

const int stage02 = register_primitives<NaiveCudaExecutor>("Stage02", true);
const int stage03 = register_primitives<SharedMemoryExecutor>("Stage03");

/// Single operations, of which it fuses some with nothing; see test_stage04_fusion.cpp, too.
template <typename T>
ComparedStage<T> fusing() {
  return {.make = [] { return std::make_unique<MinibatchExecutor<T>>(); },
          .rewrite = [](const Program& program, Index max_rows) { return minibatch::fuse<T>(program, max_rows); }};
}
const int stage04 = register_primitives("Stage04", fusing<float>(), fusing<double>());

/// The block size changes who computes an element, not how.
TEST(NaiveGemm, EveryBlockSizeGivesTheSameBits) {
  if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  constexpr Index m = 37;
  constexpr Index n = 41;
  constexpr Index k = 29;
  CudaArray a(random_values<double>(m * k, 1));
  CudaArray b(random_values<double>(k * n, 2));
  std::vector<double> expected;
  for (const int block_size : {1, 4, 8, 16, 32}) {
    CudaArray c(poison<double>(m * n));
    naive_cuda::gemm<double>(nullptr, {.m = m, .n = n, .k = k, .a = a.get(), .b = b.get(), .c = c.get()}, block_size);
    if (expected.empty()) expected = c.read();
    EXPECT_EQ(c.read(), expected) << block_size;
  }
}

TEST(FastDivmod, DividesAsTheProcessorDoes) {
  constexpr int most = std::numeric_limits<int>::max();
  for (const int divisor : {1, 2, 3, 5, 7, 10, 25, 28, 64, 641, 65'535, 65'536, 65'537, most / 2, most - 1, most}) {
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
