/// @file
/// The GEMM with each tile of a table, for the rungs from 14 on.
#pragma once

#include "03_shared_memory/gemm/tile_table.cuh"

namespace stagewise::shared_memory {

/// Computes a product with an entry of a table, in tiles that `parts` blocks share.
template <typename Table, typename T, typename Entry>
void multiply_with(cudaStream_t stream, const GemmProblem<T>& p, int parts, Workspace& workspace) {
  with_strided_matrices<Table::turns_one>(p, [&]<typename A>(const A& a, const auto& b) {
    if constexpr ((A::length > 1 ? Entry::rate : Entry::rate_of_numbers) > 0) {
      Table::template launch<T, typename Entry::Tiling>(stream, ProductSize{p.m, p.n, p.k}, a, b,
                                                        AlphaBeta<T>(p), parts, workspace);
    }
  });
}

/// The tiles of a table, with their `run`.
template <typename Table, typename T>
constexpr auto gemm_table() {
  auto tiles = Table::template tiles<T>;
  std::size_t i = 0;
  Table::for_each([&]<typename Entry>(Entry /*entry*/) {
    tiles[i++].run = multiply_with<Table, T, Entry>;
  });
  return tiles;
}

}  // namespace stagewise::shared_memory
