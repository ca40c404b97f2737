/// @file
/// Stage 02 computes what stage 01 computes.

#include "02_naive_cuda/naive_cuda_backend.hpp"
#include "cross_stage/primitives.hpp"

namespace stagewise {
namespace {

struct NaiveCuda {
  static constexpr bool adds_in_order = true;
  template <typename T>
  static std::unique_ptr<Backend<T>> make() {
    return std::make_unique<NaiveCudaBackend<T>>();
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Stage02, Primitives, StageTypes<NaiveCuda>, StageNames);

/// The block size changes who computes an element, not how.
TEST(NaiveGemm, EveryBlockSizeGivesTheSameBits) {
  if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  constexpr Index m = 37;
  constexpr Index n = 41;
  constexpr Index k = 29;
  std::vector<double> expected;
  for (const int block_size : {1, 4, 8, 16, 32}) {
    NaiveCudaBackend<double> backend(block_size);
    DeviceArray a(backend, random_values<double>(m * k, 1));
    DeviceArray b(backend, random_values<double>(k * n, 2));
    DeviceArray c(backend, poison<double>(m * n));
    backend.gemm({.m = m, .n = n, .k = k, .a = a.get(), .b = b.get(), .c = c.get()});
    const std::vector<double> actual = c.read(backend);
    if (expected.empty()) expected = actual;
    EXPECT_EQ(actual, expected) << block_size;
  }
}

}  // namespace
}  // namespace stagewise
