/// @file
/// The kernel around multiplied_tile.cuh, and its launch.
///
/// It starts early (dependent_launch.cuh): its blocks are there while the kernel before still runs,
/// and if a factor does not come from that kernel, they already copy the first of it.
#pragma once

#include <concepts>

#include "03_shared_memory/dependent_launch.cuh"
#include "03_shared_memory/gemm/multiplied_tile.cuh"
#include "03_shared_memory/gemm/tile_plan.hpp"
#include "03_shared_memory/workspace.hpp"
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

/// What a kernel's blocks do besides while their first copies are under way: nothing.
struct NoPrologue {
  /// All threads of block number `block` of `blocks` call it.
  template <int threads>
  __device__ void run(int /*block*/, int /*blocks*/) const {}
};

/// Factors of which each tile has steps of its own: choose_steps(first, last, b) picks those of the
/// rows from `first` to `last`, for A and B, and says how many they are.
template <typename MatrixA, typename MatrixB>
concept ChoosesSteps = requires(MatrixA& a, MatrixB& b) {
  { a.choose_steps(0, 0, b) } -> std::convertible_to<int>;
};

//! [tile_kernel]
/// @param k how many steps there are, or at most.
/// @param a_is_there whether A does not depend on the kernel before.
/// @param prologue see NoPrologue.
template <template <typename, typename, typename> class Multiplier, typename T, typename Tiling,
          typename MatrixA, typename MatrixB, typename Epilogue, typename Prologue>
__global__ void __launch_bounds__(Tiling::threads, Tiling::blocks)
    tile_kernel(int m, int n, int k, MatrixA a, MatrixB b, bool a_is_there, Epilogue epilogue,
                Prologue prologue, SharedTiles<T> shared) {
  // At a multiple of the banks' 128 bytes, even if other variables come before: otherwise, copies
  // that would write one row of the banks write two.
  extern __shared__ __align__(128) unsigned char memory[];
  const auto tile = static_cast<int>(blockIdx.x);
  const auto part = static_cast<int>(blockIdx.y);
  const auto parts = static_cast<int>(gridDim.y);
  const TilePlace place = TileOrder<Tiling>{m, n}.place(tile);
  if constexpr (ChoosesSteps<MatrixA, MatrixB>) {
    k = a.choose_steps(place.top, place.top + Tiling::BM - 1, b);
  }
  const int begin = shared.k_tiles.begin(part) * Tiling::BK;
  const int end = shared.k_tiles.begin(part + 1) * Tiling::BK;

  using Work = MultipliedTile<T, Multiplier, Tiling, MatrixA, MatrixB>;
  Work work(reinterpret_cast<T*>(memory), place);
  if (!a_is_there) wait_and_let_next_start();
  work.multiply(
      a, b, begin, end < k ? end : k,
      [&] {
        if (a_is_there) wait_and_let_next_start();
      },
      [&] {
        prologue.template run<Tiling::threads>(part * static_cast<int>(gridDim.x) + tile,
                                               parts * static_cast<int>(gridDim.x));
      });
  work.finish(epilogue, m, n, {shared.partials, shared.counters, tile, part, parts});
}
//! [tile_kernel]

/// The sizes of a product: C is m x n, m and n at least 1, with k steps.
struct ProductSize {
  Index m;
  Index n;
  Index k;
};

/// C = epilogue(op(A) op(B)) with a tiling.
/// @param parts how many blocks share a tile.
/// @param a_is_there,prologue see tile_kernel().
/// @throws Error if the workspace has too little room for the parts.
template <template <typename, typename, typename> class Multiplier, typename T, typename Tiling,
          typename MatrixA, typename MatrixB, typename Epilogue, typename Prologue = NoPrologue>
void launch_tiles(cudaStream_t stream, const ProductSize& size, const MatrixA& a, const MatrixB& b,
                  const Epilogue& epilogue, int parts, Workspace& workspace,
                  bool a_is_there = false, const Prologue& prologue = {}) {
  constexpr int bytes = MultipliedTile<T, Multiplier, Tiling, MatrixA, MatrixB>::bytes();
  constexpr auto* kernel = tile_kernel<Multiplier, T, Tiling, MatrixA, MatrixB, Epilogue, Prologue>;
  static const Index besides = allow_shared_memory(kernel);
  const Index tiles = tile_count<Tiling>(size.m, size.n);
  const SharedTiles<T> shared = share_tiles<Tiling, T>(tiles, size.k, parts, workspace);
  const dim3 blocks(static_cast<unsigned>(tiles), static_cast<unsigned>(parts));
  const int spread = bytes_to_spread(besides, tiles * parts, bytes);
  launch<Start::early, kernel>(
      "product in tiles",
      LaunchShape{blocks, dim3(Tiling::threads), static_cast<std::size_t>(spread)}, stream,
      static_cast<int>(size.m), static_cast<int>(size.n), static_cast<int>(size.k), a, b,
      a_is_there, epilogue, prologue, shared);
}

}  // namespace stagewise::shared_memory
