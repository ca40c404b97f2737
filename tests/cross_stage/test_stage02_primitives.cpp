/// @file
/// Stage 02 computes what stage 01 computes.

#include "01_serial/reduce.hpp"
#include "02_naive_cuda/kernels.hpp"
#include "02_naive_cuda/naive_cuda_executor.hpp"
#include "cross_stage/gemm_products.hpp"
#include "cross_stage/primitives.hpp"
#include "ladders/reduce/naive.hpp"
#include "ladders/reduce/serial.hpp"
#include "ladders/transpose/naive.hpp"
#include "ladders/transpose/serial.hpp"

namespace stagewise {
namespace {

struct NaiveCuda {
  static constexpr bool adds_in_order = true;
  template <typename T>
  static std::unique_ptr<Executor<T>> make() {
    return std::make_unique<NaiveCudaExecutor<T>>();
  }
};

const int stage02_primitives = register_primitives<NaiveCuda>("Stage02");

/// What kernels can do and no operation asks for.
template <typename T>
class NaiveKernels : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  }
};

TYPED_TEST_SUITE(NaiveKernels, Precisions, PrecisionNames);

TYPED_TEST(NaiveKernels, Gemm) {
  using T = TypeParam;
  cross_stage::expect_gemm_products<T>(
      [](const GemmProblem<T>& problem) { naive_cuda::gemm(nullptr, problem); });
}

TYPED_TEST(NaiveKernels, Transpose) {
  using T = TypeParam;
  for (const auto [rows, cols] : cross_stage::sizes) {
    const std::vector<T> x = random_values<T>(rows * cols, 1);
    std::vector<T> expected = poison<T>(rows * cols + 1);
    CudaArray there(x);
    CudaArray y(expected);
    serial::transpose(rows, cols, x.data(), expected.data());
    naive_cuda::transpose(nullptr, rows, cols, there.get(), y.get());
    expect_within_units("transpose " + std::to_string(rows) + "x" + std::to_string(cols), 0,
                        y.read(), expected);
  }
}

TYPED_TEST(NaiveKernels, Sum) {
  using T = TypeParam;
  for (const Index n : cross_stage::lengths) {
    const std::vector<T> x = random_values<T>(n, 1, -1, 3);
    std::vector<T> expected = poison<T>(2);
    CudaArray there(x);
    CudaArray out(expected);
    serial::sum(n, x.data(), expected.data());
    naive_cuda::sum(nullptr, n, there.get(), out.get());
    expect_within_units("sum of " + std::to_string(n), 4, out.read(), expected);
  }
}

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
    naive_cuda::gemm<double>(
        nullptr, {.m = m, .n = n, .k = k, .a = a.get(), .b = b.get(), .c = c.get()}, block_size);
    const std::vector<double> actual = c.read();
    if (expected.empty()) expected = actual;
    EXPECT_EQ(actual, expected) << block_size;
  }

  // And an executor multiplies by blocks of the size that it was given.
  Trial<double> trial(m);
  Gemm gemm;
  gemm.a = trial.batched({k}, random_values<double>(m * k, 1));
  gemm.b = trial.whole({k, n}, random_values<double>(k * n, 2));
  gemm.c = trial.batched_output({n});
  trial.append(gemm);
  NaiveCudaExecutor<double> executor(8);
  auto actual = std::get<std::vector<double>>(trial.run(executor, trial.program()).back());
  actual.pop_back();
  EXPECT_EQ(actual, expected);
}

}  // namespace
}  // namespace stagewise
