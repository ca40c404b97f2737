#include <cstdlib>
#include <vector>

#include "runtime.hpp"

// Kernels are written as the translator would write them.
// NOLINTBEGIN(*-avoid-c-arrays)
namespace cuda_on_cpu {
namespace {

[[maybe_unused]] void beyond_shared(float* out, int index) {
  auto& tile = ::cuda_on_cpu::shared<float[64]>([] {}, "tile");
  tile[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x == 9) tile[index] = 1;
  out[threadIdx.x] = tile[threadIdx.x];
}

[[maybe_unused]] void beyond_local(float* out, int index) {
  float values[4] = {1, 2, 3, 4};
  if (threadIdx.x == 9) out[0] = values[index];
}

template <class Kernel, class... Arguments>
[[noreturn, maybe_unused]] void run_and_exit(const char* name, Kernel kernel,
                                             Arguments... arguments) {
  float* const out = on_device(std::vector<float>(64));
  Launch(name, {1, 64})([=](auto... a) { kernel(a...); }, out, arguments...);
  std::exit(0);  // NOLINT(concurrency-mt-unsafe)
}

class SanitizersDeathTest : public testing::Test {
 protected:
  void SetUp() override { testing::GTEST_FLAG(death_test_style) = "threadsafe"; }
};

TEST_F(SanitizersDeathTest, AddressSanitizerReportsAreHeadedByKernelBlockAndThread) {
#ifndef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "for the preset asan";
#else
  EXPECT_DEATH(run_and_exit("beyond_shared", beyond_shared, 64),
               "kernel 'beyond_shared', block \\(0, 0, 0\\), thread \\(9, 0, 0\\)");
  EXPECT_DEATH(run_and_exit("beyond_local", beyond_local, 4),
               "kernel 'beyond_local', block \\(0, 0, 0\\), thread \\(9, 0, 0\\)");
#endif
}

}  // namespace
}  // namespace cuda_on_cpu
// NOLINTEND(*-avoid-c-arrays)
