/// @file
/// GEMM, variant 3: OpenBLAS on one thread.
///
/// Reports 000 and 002 compare their GPUs with slow loops, which flatters a GPU by more than a
/// hundredfold. This is what one core can really do: at run time, the library picks assembly
/// written for the processor. Measure every speed-up of a later stage "over the CPU" against it.
///
/// Run it: `stage01_serial train --gemm blas`.

#include <algorithm>
#include <limits>
#include <string>

#include "01_serial/gemm.hpp"
#include "io/open_blas.hpp"
#include "tensor/error.hpp"

namespace stagewise::serial {
namespace {

blasint to_blas(Index dimension) {
  if (dimension > std::numeric_limits<blasint>::max()) {
    throw Error("OpenBLAS takes dimensions up to " +
                std::to_string(std::numeric_limits<blasint>::max()) + ", but one is " +
                std::to_string(dimension) + "; use another --gemm");
  }
  return static_cast<blasint>(dimension);
}

CBLAS_TRANSPOSE to_blas(Transpose op) {
  return op == Transpose::yes ? CblasTrans : CblasNoTrans;
}

}  // namespace

template <typename T>
void gemm_blas(const GemmProblem<T>& p) {
  if (p.m == 0 || p.n == 0) return;
  const OpenBlas& blas = open_blas();
  expect_memory_for_blas();

  const blasint m = to_blas(p.m);
  const blasint n = to_blas(p.n);
  const blasint k = to_blas(p.k);
  // The distance between rows in memory; at least 1, even if a matrix has no columns.
  const blasint a_stride = std::max<blasint>(1, p.op_a == Transpose::yes ? m : k);
  const blasint b_stride = std::max<blasint>(1, p.op_b == Transpose::yes ? k : n);
  const auto multiply = [&](auto routine) {
    routine(CblasRowMajor, to_blas(p.op_a), to_blas(p.op_b), m, n, k, p.alpha, p.a, a_stride, p.b,
            b_stride, p.beta, p.c, n);
  };
  if constexpr (sizeof(T) == sizeof(float)) {
    multiply(blas.sgemm);
  } else {
    multiply(blas.dgemm);
  }
}

template void gemm_blas(const GemmProblem<float>&);
template void gemm_blas(const GemmProblem<double>&);

}  // namespace stagewise::serial
