/// @file
/// The kernel around multiplied_tile.cuh, and its launch.
#pragma once

#include "03_shared_memory/gemm/multiplied_tile.cuh"
#include "03_shared_memory/gemm/tile_plan.hpp"
#include "03_shared_memory/workspace.hpp"
#include "cuda/check.hpp"
#include "cuda/launch.cuh"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"

namespace stagewise::shared_memory {

/// How blocks share a tile.
template <typename T>
struct SharedTiles {
  KTileRow k_tiles;    ///< the tile's, and each block's piece
  T* partials;         ///< where the blocks leave their sums: all of a tile, one after another
  unsigned* counters;  ///< see MultipliedTile::Parts
};

/// How `parts` blocks share each of some tiles, with k steps.
/// @throws Error if the workspace has too little room; it has enough for max_parts().
template <typename Tiling, typename T>
SharedTiles<T> share_tiles(Index tiles, Index k, int parts, Workspace& workspace) {
  const Index most = max_parts_of_all<T>(Tiling::BM * Tiling::BN);
  if (parts > 1 && tiles * parts > most) {
    throw Error("the workspace of a product has room for " + with_thousands(most) +
                " parts of tiles, not for " + with_thousands(parts) + " of each of " +
                with_thousands(tiles));
  }
  const Index k_tiles = cuda::pieces(k, Tiling::BK);
  return {{static_cast<int>(k_tiles / parts), static_cast<int>(k_tiles % parts)},
          workspace.partials<T>(),
          workspace.counters()};
}

//! [planned_tiles]
template <template <typename, typename, typename> class Multiplier, typename T, typename Tiling,
          typename MatrixA, typename MatrixB, typename Epilogue>
__global__ void __launch_bounds__(Tiling::threads, Tiling::blocks)
    planned_tiles_kernel(int m, int n, int k, MatrixA a, MatrixB b, Epilogue epilogue,
                         SharedTiles<T> shared) {
  // At a multiple of the banks' 128 bytes, even if other variables come before: otherwise, copies
  // that would write one row of the banks write two.
  extern __shared__ __align__(128) unsigned char memory[];
  const TileOrder<Tiling> order = {m, n};
  const auto tile = static_cast<int>(blockIdx.x);
  const auto part = static_cast<int>(blockIdx.y);
  const auto parts = static_cast<int>(gridDim.y);
  const int begin = shared.k_tiles.begin(part) * Tiling::BK;
  const int end = shared.k_tiles.begin(part + 1) * Tiling::BK;

  using Work = MultipliedTile<T, Multiplier, Tiling, MatrixA, MatrixB>;
  Work work(reinterpret_cast<T*>(memory), order.place(tile));
  work.multiply(a, b, begin, end < k ? end : k);
  work.finish(epilogue, m, n, {shared.partials, shared.counters, tile, part, parts});
}
//! [planned_tiles]

/// C = epilogue(op(A) op(B)), m, n at least 1.
/// @param parts how many blocks share a tile.
/// @throws Error if the workspace has too little room for them.
template <template <typename, typename, typename> class Multiplier, typename T, typename Tiling,
          typename MatrixA, typename MatrixB, typename Epilogue>
void multiply_planned_tiles(cudaStream_t stream, Index m, Index n, Index k, const MatrixA& a,
                            const MatrixB& b, const Epilogue& epilogue, int parts,
                            Workspace& workspace) {
  constexpr int bytes = MultipliedTile<T, Multiplier, Tiling, MatrixA, MatrixB>::bytes();
  constexpr auto* kernel = planned_tiles_kernel<Multiplier, T, Tiling, MatrixA, MatrixB, Epilogue>;
  static const bool is_allowed = [] {  // more than the 48 KiB that any kernel may use
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    return true;
  }();
  static_cast<void>(is_allowed);
  const Index tiles = tile_count<Tiling>(m, n);
  const SharedTiles<T> shared = share_tiles<Tiling, T>(tiles, k, parts, workspace);
  const dim3 blocks(static_cast<unsigned>(tiles), static_cast<unsigned>(parts));
  kernel<<<blocks, Tiling::threads, bytes, stream>>>(static_cast<int>(m), static_cast<int>(n),
                                                     static_cast<int>(k), a, b, epilogue, shared);
  CUDA_CHECK_LAUNCH("gemm (planned tiles)");
}

/// Computes a product with a tiling, in tiles that `parts` blocks share.
template <template <typename, typename, typename> class Multiplier, typename T, typename Tiling>
void multiply_with(cudaStream_t stream, const GemmProblem<T>& p, int parts, Workspace& workspace) {
  with_strided_matrices<keeps_vectors_of_steps<Multiplier>>(p, [&](const auto& a, const auto& b) {
    multiply_planned_tiles<Multiplier, T, Tiling>(stream, p.m, p.n, p.k, a, b, AlphaBeta<T>(p),
                                                  parts, workspace);
  });
}

/// What plan_tiles() has to know of a tiling.
/// @param rate,rate_of_numbers see FittedTile, whose `run` stays null.
template <typename T, typename Tiling>
constexpr FittedTile<T> describe_tile(double rate, double rate_of_numbers) {
  constexpr int size = sizeof(T);
  constexpr int padding = 2 * 32;  // bytes of a step, in the layout that takes more
  constexpr int pipeline =
      Tiling::stages * Tiling::BK * ((Tiling::BM + Tiling::BN) * size + padding);
  constexpr int sums = Tiling::slices > 1 ? Tiling::slices * Tiling::BM * Tiling::BN * size : 0;
  return {Tiling::BM,
          Tiling::BN,
          Tiling::BK,
          Tiling::slices,
          Tiling::stages,
          Tiling::blocks,
          Tiling::BM * Tiling::BN / Tiling::threads,
          std::max(pipeline, sums),
          rate,
          rate_of_numbers,
          nullptr};
}

/// An entry of a table of tiles: the numbers of a SlicedTiling, in its order.
/// @param rate,rate_of_numbers see FittedTile; 0 for the same.
template <template <typename, typename, typename> class Multiplier, typename T, int... numbers>
constexpr FittedTile<T> fitted_tile(double rate, double rate_of_numbers = 0) {
  using Tiling = SlicedTiling<numbers...>;
  FittedTile<T> tile = describe_tile<T, Tiling>(rate, rate_of_numbers > 0 ? rate_of_numbers : rate);
  tile.run = multiply_with<Multiplier, T, Tiling>;
  return tile;
}

}  // namespace stagewise::shared_memory
