/// @file
/// The GEMM with each tile of a table, for the rungs from 14 on.
#pragma once

#include "03_shared_memory/gemm/tile_table.cuh"
#include "tensor/error.hpp"

namespace stagewise::shared_memory {

/// Computes a product with an entry of a table, in tiles that `parts` blocks share.
/// @throws Error if it does not take the product; see FittedTile::takes().
template <typename Table, typename T, typename Entry>
void multiply_with(cudaStream_t stream, const GemmProblem<T>& p, int parts, Workspace& workspace) {
  with_strided_matrices<Table::turns_one>(p, [&]<typename A>(const A& a, const auto& b) {
    if constexpr ((A::length > 1 ? Entry::rate : Entry::rate_of_numbers) > 0) {
      Table::template launch<T, typename Entry::Tiling>(stream, ProductSize{p.m, p.n, p.k}, a, b,
                                                        AlphaBeta<T>(p), parts, workspace);
    } else {
      throw Error("this tile has no kernel for factors that are aligned like these");
    }
  });
}

/// The tiles of a table, with their `run`.
template <typename Table, typename T>
constexpr auto gemm_table() {
  auto tiles = Table::template tiles<T>;
  std::size_t i = 0;
  Table::for_each(
      [&]<typename Entry>(Entry /*entry*/) { tiles[i++].run = multiply_with<Table, T, Entry>; });
  return tiles;
}

}  // namespace stagewise::shared_memory
