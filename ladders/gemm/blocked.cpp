/// @file
/// GEMM on one core: a tile of C stays in registers for a whole panel of k.
///
/// The reordered variant still loads and stores C once for every eight steps of k. Here, a tile of
/// C, as large as fits into the vector registers, is accumulated over a panel of up to 256 steps
/// and only then added to memory. The operands are first packed: copied into small contiguous
/// arrays in the order in which the innermost loop reads them, with zeros beyond the edges. So one
/// innermost loop is enough for all four transposes and all sizes. The idea is that of Goto and van
/// de Geijn (2008), without the assembly.
///
/// Run it: `ladder blocked train`.
/// Work: 2 m n k operations; C is read and written k / 256 times. A block of packed A stays in the
/// L2 cache while all panels of B pass by, a panel of packed B (at most 32 KiB) in the L1 cache
/// while all tiles of that block use it.

#include "ladders/gemm/blocked.hpp"

#include <algorithm>
#include <array>

#include "01_serial/gemm.hpp"
#include "network/operand.hpp"

namespace stagewise::serial {
namespace {

#ifdef __AVX512F__  // 32 registers of 64 bytes: 8 x 2 of them hold the tile
constexpr Index vector_bytes = 64;
constexpr Index tile_rows = 8;
#else  // 16 registers, of 32 bytes with AVX: 6 x 2 of them hold the tile
constexpr Index vector_bytes = 32;
constexpr Index tile_rows = 6;
#endif
constexpr Index panel_depth = 256;
constexpr Index block_tiles = 16;  // tiles of a block of A, one below the other

template <typename T>
constexpr Index tile_columns = 2 * vector_bytes / sizeof(T);

/// A panel of op(A), one column of the tile after another.
template <typename T>
using PanelA = std::array<std::array<T, tile_rows>, panel_depth>;
/// A panel of op(B), one row of the tile after another.
template <typename T>
using PanelB = std::array<std::array<T, tile_columns<T>>, panel_depth>;
template <typename T>
using Tile = std::array<std::array<T, tile_columns<T>>, tile_rows>;

template <typename T>
void pack_a(const GemmProblem<T>& p, Index i, Index k, Index depth, PanelA<T>& panel) {
  const Operand<T> a = operand_a(p);
  const Index rows = std::min(tile_rows, p.m - i);
  for (Index r = 0; r < tile_rows; ++r) {
    for (Index s = 0; s < depth; ++s) panel[s][r] = r < rows ? a(i + r, k + s) : T{0};
  }
}

template <typename T>
void pack_b(const GemmProblem<T>& p, Index j, Index k, Index depth, PanelB<T>& panel) {
  const Operand<T> b = operand_b(p);
  const Index columns = std::min(tile_columns<T>, p.n - j);
  for (Index s = 0; s < depth; ++s) {
    for (Index c = 0; c < tile_columns<T>; ++c) {
      panel[s][c] = c < columns ? b(k + s, j + c) : T{0};
    }
  }
}

//! [blocked]
/// The product of two packed panels: tile_rows x tile_columns sums that never leave the registers.
template <typename T>
Tile<T> multiply(const PanelA<T>& a, const PanelB<T>& b, Index depth) {
  Tile<T> sum{};
  for (Index s = 0; s < depth; ++s) {
    for (Index r = 0; r < tile_rows; ++r) {
#pragma GCC unroll 1  // so that GCC vectorizes this short loop before it unrolls it
      for (Index c = 0; c < tile_columns<T>; ++c) sum[r][c] += a[s][r] * b[s][c];
    }
  }
  return sum;
}
//! [blocked]

/// The part of a tile that lies within C: rows from i on, columns from j on.
template <typename T>
void store(const GemmProblem<T>& p, Index i, Index j, const Tile<T>& sum, T beta) {
  for (Index r = 0; r < std::min(tile_rows, p.m - i); ++r) {
    T* const c = p.c + (i + r) * p.n + j;
    for (Index x = 0; x < std::min(tile_columns<T>, p.n - j); ++x) {
      c[x] = beta == T{0} ? p.alpha * sum[r][x] : p.alpha * sum[r][x] + beta * c[x];
    }
  }
}

}  // namespace

template <typename T>
void gemm_blocked(const GemmProblem<T>& p) {
  if (p.k == 0) return gemm_naive(p);  // no panel: only beta is left to apply
  alignas(64) std::array<PanelA<T>, block_tiles> a;
  alignas(64) PanelB<T> b;
  for (Index k = 0; k < p.k; k += panel_depth) {
    const Index depth = std::min(panel_depth, p.k - k);
    const T beta = k == 0 ? p.beta : T{1};  // later panels add to what the first one wrote
    for (Index first = 0; first < p.m; first += block_tiles * tile_rows) {
      const Index tiles = std::min(block_tiles, (p.m - first + tile_rows - 1) / tile_rows);
      for (Index t = 0; t < tiles; ++t) pack_a(p, first + t * tile_rows, k, depth, a[t]);
      for (Index j = 0; j < p.n; j += tile_columns<T>) {
        pack_b(p, j, k, depth, b);
        for (Index t = 0; t < tiles; ++t) {
          store(p, first + t * tile_rows, j, multiply(a[t], b, depth), beta);
        }
      }
    }
  }
}

template void gemm_blocked(const GemmProblem<float>&);
template void gemm_blocked(const GemmProblem<double>&);

}  // namespace stagewise::serial
