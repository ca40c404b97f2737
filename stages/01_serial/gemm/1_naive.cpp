/// @file
/// GEMM, variant 1: the definition, as three loops.
///
/// Each element of C is the dot product of a row of op(A) with a column of op(B). In row-major
/// memory, the elements of a column are n elements apart: every load touches another cache line and
/// uses 4 or 8 of its 64 bytes. And the additions of one dot product depend on each other, so the
/// processor waits for each before it can start the next.
///
/// Run it: `stage01_serial train --gemm naive`.
/// Work: 2 m n k operations; B is read m times, and if a column's lines do not stay in the cache
/// until the next column needs them, a whole line is loaded for each element.

#include "01_serial/gemm.hpp"
#include "network/operand.hpp"

namespace stagewise::serial {

//! [naive]
template <typename T>
void gemm_naive(const GemmProblem<T>& p) {
  const Operand<T> a = operand_a(p);
  const Operand<T> b = operand_b(p);
  for (Index i = 0; i < p.m; ++i) {
    for (Index j = 0; j < p.n; ++j) {
      T sum = 0;
      for (Index k = 0; k < p.k; ++k) sum += a(i, k) * b(k, j);
      T& c = p.c[i * p.n + j];
      c = p.beta == T{0} ? p.alpha * sum : p.alpha * sum + p.beta * c;
    }
  }
}
//! [naive]

template void gemm_naive(const GemmProblem<float>&);
template void gemm_naive(const GemmProblem<double>&);

}  // namespace stagewise::serial
