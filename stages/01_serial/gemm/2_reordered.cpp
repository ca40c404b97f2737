/// @file
/// GEMM, variant 2: the naive variant's multiplications, in an order that suits caches and vector
/// units.
///
/// With the loops in the order k-i-j, the innermost one runs along a row of op(B) and a row of C:
/// all 64 bytes of a cache line are used, and neighbouring elements do not depend on each other, so
/// the compiler can vectorize the loop. Then the limit is that every multiplication loads and
/// stores an element of C; so eight rows of op(B) are added to a row of C at a time. They are first
/// copied side by side: the copy stays in the L1 cache while it is added to all rows of C, makes a
/// transposed B look like any other, and is filled up with zeros if fewer than eight rows are
/// left.
///
/// Run it: `stage01_serial train --gemm reordered` (the default).
/// Work: 2 m n k operations; B is read once, C is read and written k / 8 times, along rows.

#include <algorithm>
#include <array>

#include "01_serial/gemm.hpp"
#include "network/operand.hpp"

namespace stagewise::serial {
namespace {

constexpr Index steps = 8;    // rows of op(B) at a time
constexpr Index width = 256;  // and columns of them: 8 KiB in float

template <typename T>
using Factors = std::array<T, steps>;
template <typename T>
using Rows = std::array<std::array<T, width>, steps>;

//! [reordered]
/// Adds eight rows of op(B), each with its factor, to a row of C.
template <typename T>
void add_rows(Index n, const Factors<T>& f, const Rows<T>& b, T* c) {
  for (Index j = 0; j < n; ++j) {
    c[j] = c[j] + f[0] * b[0][j] + f[1] * b[1][j] + f[2] * b[2][j] + f[3] * b[3][j] +
           f[4] * b[4][j] + f[5] * b[5][j] + f[6] * b[6][j] + f[7] * b[7][j];
  }
}

/// C += alpha op(A) op(B), for the `n` columns of C from column j on.
template <typename T>
void add_product(const GemmProblem<T>& p, Index j, Index n) {
  const Operand<T> a = operand_a(p);
  const Operand<T> b = operand_b(p);
  Rows<T> rows;
  Factors<T> factors;
  for (Index k = 0; k < p.k; k += steps) {
    for (Index s = 0; s < steps; ++s) {
      for (Index x = 0; x < n; ++x) rows[s][x] = k + s < p.k ? b(k + s, j + x) : T{0};
    }
    for (Index i = 0; i < p.m; ++i) {
      for (Index s = 0; s < steps; ++s) factors[s] = k + s < p.k ? p.alpha * a(i, k + s) : T{0};
      add_rows(n, factors, rows, p.c + i * p.n + j);
    }
  }
}
//! [reordered]

}  // namespace

template <typename T>
void gemm_reordered(const GemmProblem<T>& p) {
  for (Index i = 0; i < p.m * p.n; ++i) p.c[i] = p.beta == T{0} ? T{0} : p.beta * p.c[i];
  for (Index j = 0; j < p.n; j += width) add_product(p, j, std::min(width, p.n - j));
}

template void gemm_reordered(const GemmProblem<float>&);
template void gemm_reordered(const GemmProblem<double>&);

}  // namespace stagewise::serial
