#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "01_serial/gemm.hpp"
#include "ladders/gemm/blocked.hpp"
#include "support.hpp"
#include "unit/observed_executor.hpp"

namespace stagewise {
namespace {

using serial::GemmVariant;

template <typename T>
class SerialGemm : public testing::Test {};

TYPED_TEST_SUITE(SerialGemm, Precisions, PrecisionNames);

constexpr std::array variants = {GemmVariant::naive, GemmVariant::reordered, GemmVariant::blas};

/// A product by its name.
template <typename T>
struct Kernel {
  std::string name;
  std::function<void(const GemmProblem<T>&)> multiply;
};

/// Stage 01's, and the blocked one.
template <typename T>
std::vector<Kernel<T>> kernels() {
  std::vector<Kernel<T>> all = {{"blocked", serial::gemm_blocked<T>}};
  for (const GemmVariant variant : variants) {
    all.push_back({serial::gemm_variant_names().at(static_cast<std::size_t>(variant)),
                   [=](const GemmProblem<T>& problem) { serial::gemm(variant, problem); }});
  }
  return all;
}

constexpr std::array transposes = {Transpose::no, Transpose::yes};

struct GemmSize {
  Index m;
  Index n;
  Index k;
};

/// Nothing, one, primes, just below and above what the variants cut their work into (rows: 6 or 8;
/// columns: up to 32, 256; steps of k: 8, 256), wider than tall and taller than wide.
const std::vector<GemmSize> gemm_sizes = {
    {0, 3, 2},     {3, 0, 2},    {3, 2, 0},     {1, 1, 1},   {1, 7, 1},    {7, 1, 5},   {2, 3, 4},
    {4, 4, 4},     {5, 7, 3},    {8, 32, 16},   {9, 33, 17}, {13, 31, 37}, {47, 5, 2},  {3, 67, 29},
    {11, 17, 255}, {5, 37, 256}, {19, 35, 257}, {7, 3, 521}, {3, 256, 8},  {2, 257, 7}, {7, 523, 9}};

/// op(A) op(B) and |op(A)| |op(B)|, by the definition, in long double.
template <typename T>
struct Product {
  Product(const GemmSize& size, Transpose op_a, Transpose op_b, const std::vector<T>& a, const std::vector<T>& b)
      : sum(static_cast<std::size_t>(size.m * size.n), 0), magnitude(sum) {
    for (Index i = 0; i < size.m; ++i) {
      for (Index j = 0; j < size.n; ++j) {
        for (Index k = 0; k < size.k; ++k) {
          const long double x = a[op_a == Transpose::yes ? k * size.m + i : i * size.k + k];
          const long double y = b[op_b == Transpose::yes ? j * size.k + k : k * size.n + j];
          sum[i * size.n + j] += x * y;
          magnitude[i * size.n + j] += std::abs(x * y);
        }
      }
    }
  }

  std::vector<long double> sum;
  std::vector<long double> magnitude;
};

template <typename T>
std::string describe(const GemmProblem<T>& p, const Kernel<T>& kernel) {
  return kernel.name + ", m = " + std::to_string(p.m) + ", n = " + std::to_string(p.n) +
         ", k = " + std::to_string(p.k) + (p.op_a == Transpose::yes ? ", A transposed" : "") +
         (p.op_b == Transpose::yes ? ", B transposed" : "") + ", alpha = " + std::to_string(p.alpha) +
         ", beta = " + std::to_string(p.beta);
}

/// Runs one problem and compares it with alpha * product + beta * C. The elements behind C must
/// stay as they are.
template <typename T>
void check(const Kernel<T>& kernel, GemmProblem<T> problem, const Product<T>& product) {
  constexpr Index margin = 40;
  const Index n = problem.m * problem.n;
  const std::vector<T> before = problem.beta == T{0} ? poison<T>(n) : random_values<T>(n, 3, -2, 1);
  std::vector<T> c = before;
  c.resize(c.size() + margin, T{-77});
  problem.c = c.data();
  kernel.multiply(problem);

  // k products and their additions round, and so do alpha, beta and the last addition: the
  // standard bound, gamma_k |A| |B|, to first order and whatever the order of the sum.
  std::vector<long double> expected(before.size());
  std::vector<long double> bounds(before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    const long double old = problem.beta == T{0} ? 0 : problem.beta * static_cast<long double>(before[i]);
    expected[i] = problem.alpha * product.sum[i] + old;
    bounds[i] = static_cast<long double>(problem.k + 4) * std::numeric_limits<T>::epsilon() *
                (std::abs(problem.alpha) * product.magnitude[i] + std::abs(old));
  }
  EXPECT_EQ(std::vector<T>(c.end() - margin, c.end()), std::vector<T>(margin, T{-77}))
      << "something was written behind C";
  c.resize(before.size());
  expect_within(c, expected, bounds);
}

TYPED_TEST(SerialGemm, EveryFormGivesTheProduct) {
  using T = TypeParam;
  const std::vector<Kernel<T>> all = kernels<T>();
  for (const GemmSize& size : gemm_sizes) {
    const auto a = random_values<T>(size.m * size.k, 1, -1, 2);
    const auto b = random_values<T>(size.k * size.n, 2, -2, 1);
    for (const Transpose op_a : transposes) {
      for (const Transpose op_b : transposes) {
        const Product<T> product(size, op_a, op_b, a, b);
        for (const T alpha : {T{1}, T{0}, T{-0.5}, T{2}}) {
          for (const T beta : {T{0}, T{1}, T{-0.5}, T{2}}) {
            for (const Kernel<T>& kernel : all) {
              const GemmProblem<T> problem{.op_a = op_a,
                                           .op_b = op_b,
                                           .m = size.m,
                                           .n = size.n,
                                           .k = size.k,
                                           .alpha = alpha,
                                           .a = a.data(),
                                           .b = b.data(),
                                           .beta = beta};
              SCOPED_TRACE(describe(problem, kernel));
              check(kernel, problem, product);
              if (this->HasFatalFailure()) return;  // one sentence is enough
            }
          }
        }
      }
    }
  }
}

TYPED_TEST(SerialGemm, NaNInAnOperandReachesItsRowOrColumnAndNothingElse) {
  using T = TypeParam;
  const GemmSize size{11, 37, 19};
  for (const Kernel<T>& kernel : kernels<T>()) {
    auto a = random_values<T>(size.m * size.k, 1);
    auto b = random_values<T>(size.k * size.n, 2);
    a[3 * size.k + 18] = std::numeric_limits<T>::quiet_NaN();
    b[17 * size.n + 36] = std::numeric_limits<T>::quiet_NaN();
    std::vector<T> c(static_cast<std::size_t>(size.m * size.n), 0);
    kernel.multiply({.m = size.m, .n = size.n, .k = size.k, .a = a.data(), .b = b.data(), .c = c.data()});
    for (Index i = 0; i < size.m * size.n; ++i) {
      const bool expected = i / size.n == 3 || i % size.n == 36;
      ASSERT_EQ(std::isnan(c[i]), expected) << kernel.name << ", element " << i;
    }
  }
}

TYPED_TEST(SerialGemm, ExecutorUsesTheFormItWasGiven) {
  using T = TypeParam;
  const GemmSize size{17, 23, 301};  // long enough for the variants to round differently
  const auto a = random_values<T>(size.m * size.k, 1);
  const auto b = random_values<T>(size.k * size.n, 2);
  std::vector<std::vector<T>> results;
  for (const GemmVariant variant : variants) {
    std::vector<T> direct = poison<T>(size.m * size.n);
    GemmProblem<T> problem{.m = size.m, .n = size.n, .k = size.k, .a = a.data(), .b = b.data()};
    problem.c = direct.data();
    serial::gemm(variant, problem);

    Workbench<T> bench;
    bench.executor = std::make_unique<ObservedExecutor<T>>(variant);
    const ValueId left = bench.add_input("a", a, {size.k});
    const ValueId right = bench.add_parameter("b", b, {size.k, size.n});
    const ValueId c = bench.add("c", {size.n});
    bench.program.append(Gemm{.a = left, .b = right, .c = c});
    bench.run(bench.program, size.m);
    EXPECT_EQ(bench.get(bench.program, c, size.m), direct);
    results.push_back(direct);
  }
  // Which of them round differently, the processor's instructions decide; not all are alike.
  EXPECT_NE(std::count(results.begin(), results.end(), results[0]), std::ssize(results));
}

TYPED_TEST(SerialGemm, BlasRefusesDimensionsBeyondItsIntegers) {
  using T = TypeParam;
  const Index large = Index{1} << 31;
  for (const GemmSize& size : {GemmSize{large, 1, 1}, GemmSize{1, large, 1}, GemmSize{1, 1, large}}) {
    // The refusal comes before any element is touched, so there need not be any.
    const GemmProblem<T> problem{.m = size.m, .n = size.n, .k = size.k};
    EXPECT_EQ(sentence_of([&] { serial::gemm(GemmVariant::blas, problem); }),
              "OpenBLAS takes dimensions up to 2147483647, but one is 2147483648; use another "
              "--gemm");
  }
}

TEST(GemmVariants, NamesAreParsedAndOthersRefused) {
  EXPECT_EQ(serial::gemm_variant_names(), (std::vector<std::string>{"naive", "reordered", "blas"}));
  for (const GemmVariant variant : variants) {
    EXPECT_EQ(serial::parse_gemm_variant(serial::gemm_variant_names().at(static_cast<std::size_t>(variant))), variant);
  }
  EXPECT_THROW(serial::parse_gemm_variant("fast"), UsageError);
  EXPECT_EQ(sentence_of([] { serial::parse_gemm_variant("fast"); }), "there is no variant of GEMM named 'fast'");
}

}  // namespace
}  // namespace stagewise
