/// @file
/// Matrix multiplication as a ladder of kernels.
#pragma once

#include "03_shared_memory/ladder.hpp"
#include "03_shared_memory/tiles/choose_tile.hpp"
#include "network/problems.hpp"

namespace stagewise::shared_memory {

template <typename T>
using GemmRung = Rung<GemmProblem<T>>;

/// All variants of the product, from the slowest to the fastest; see the files in gemm/.
template <typename T>
Ladder<GemmProblem<T>> gemm_ladder();

/// The rung that suits a problem best on the current GPU.
template <typename T>
const GemmRung<T>& pick_gemm(const GemmProblem<T>& problem);

/// The tiles from which a rung picks one for each product, by choose_tile().
template <typename T>
struct GemmTiles {
  std::span<const TileInfo> info = {};

  /// Enqueues a product, m and n at least 1, by one of them.
  /// @param split_k how many blocks share a tile, at most max_split_k().
  void (*run)(cudaStream_t stream, const GemmProblem<T>& problem, std::size_t tile, int split_k,
              Workspace& workspace) = nullptr;
};

/// The tiles of a rung; none if it has only one, or does not multiply such numbers. They can be
/// used where the rung can.
template <typename T>
GemmTiles<T> gemm_tiles(std::string_view rung);

/// Whether the tiles copy a product's factors in vectors, since both consist of them. Two
/// transposed factors, which no network multiplies, have kernels for single scalars only.
template <typename T>
bool copies_vectors(const GemmProblem<T>& problem);

/// C = alpha op(A) op(B) + beta C, by a rung, or, if it is null, by the one that pick_gemm() names;
/// see GemmProblem for shapes. Any sizes, including 0 and 1. With beta = 0, C is written without
/// being read.
/// @throws Error if the rung does not support the problem.
template <typename T>
void gemm(cudaStream_t stream, const GemmProblem<T>& problem, Workspace& workspace,
          const GemmRung<T>* rung = nullptr);

}  // namespace stagewise::shared_memory
