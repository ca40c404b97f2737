/// @file
/// The GEMM with each tile of a table, for the rungs from 14 on.
#pragma once

#include "03_shared_memory/gemm/tile_table.cuh"

namespace stagewise::shared_memory {

/// Computes a product with a tiling, in tiles that `parts` blocks share.
template <typename Table, typename T, typename Tiling>
void multiply_with(cudaStream_t stream, const GemmProblem<T>& p, int parts, Workspace& workspace) {
  with_strided_matrices<Table::turns_one>(p, [&](const auto& a, const auto& b) {
    Table::template launch<T, Tiling>(stream, ProductSize{p.m, p.n, p.k}, a, b, AlphaBeta<T>(p),
                                      parts, workspace);
  });
}

/// The tiles of a table, with their `run`.
template <typename Table, typename T>
constexpr auto gemm_table() {
  auto tiles = Table::template tiles<T>;
  std::size_t i = 0;
  Table::for_each([&]<typename Tiling>(Tiling /*tiling*/) {
    tiles[i++].run = multiply_with<Table, T, Tiling>;
  });
  return tiles;
}

}  // namespace stagewise::shared_memory
