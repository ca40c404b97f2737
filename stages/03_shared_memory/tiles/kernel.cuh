/// @file
/// The loop: a block multiplies a tile, and a launch multiplies matrices.
///
/// The kernel starts early (dependent_launch.cuh): its blocks are there while the kernel before
/// still runs, and if A does not come from that kernel, they already copy the first of it.
#pragma once

#include <algorithm>
#include <concepts>

#include "03_shared_memory/dependent_launch.cuh"
#include "03_shared_memory/tiles/choose_tile.hpp"
#include "03_shared_memory/tiles/finish.cuh"
#include "03_shared_memory/tiles/pipeline.cuh"
#include "03_shared_memory/workspace.hpp"
#include "cuda/launch.cuh"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"

namespace stagewise::shared_memory {

/// What a kernel's blocks do while their first copies are under way: nothing.
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

//! [multiply_k_tile]
/// Multiplies a k tile, whose first fragments must be loaded; at the end, those of the next are.
/// The copies of another are requested between the multiplications, a few at a time.
template <typename M, typename Buffers>
__device__ __forceinline__ void multiply_k_tile(M& mma, Buffers& pipeline) {
  constexpr int rounds = M::rounds;
  static_assert(rounds % 2 == 0, "each k tile must begin with the same registers");
  for_each<rounds>([&]<int i>() {
    if constexpr (i + 1 == rounds) pipeline.advance();
    mma.load(i + 1, pipeline.a(), pipeline.b());
    if constexpr (i + 1 < rounds) pipeline.template copy<rounds - 1, i>();
    mma.multiply(i);
  });
}
//! [multiply_k_tile]

//! [tile_kernel]
/// @param k how many steps there are, or at most.
/// @param a_is_independent whether A does not depend on the kernel before.
/// @param prologue see NoPrologue.
template <template <typename, typename, typename> class MmaOf, TileConfig Tile, Matrix MatrixA,
          Matrix MatrixB, Epilogue E, Prologue P>
__global__ void __launch_bounds__(Tile::threads, Tile::blocks)
    tile_kernel(int m, int n, int k, MatrixA a, MatrixB b, bool a_is_independent, E epilogue,
                P prologue, SplitK<typename MatrixA::Scalar> split) {
  using T = typename MatrixA::Scalar;
  using Buffers = Pipeline<Tile, MatrixA, MatrixB>;
  // At a multiple of the banks' 128 bytes, even if other variables come before: otherwise, copies
  // that would write one row of the banks write two.
  extern __shared__ __align__(128) unsigned char memory[];
  T* const shared = reinterpret_cast<T*>(memory);
  const auto tile = static_cast<int>(blockIdx.x);
  const auto part = static_cast<int>(blockIdx.y);  // of k
  const TilePosition position = TileOrder<Tile>{m, n}.at(tile);
  if constexpr (ChoosesSteps<MatrixA, MatrixB>) {
    k = a.choose_steps(position.top, position.top + Tile::BM - 1, b);
  }
  const int begin = split.begin(part) * Tile::BK;
  const int end = split.begin(part + 1) * Tile::BK;

  MmaOf<Tile, typename Buffers::TileA, typename Buffers::TileB> mma;
  static_assert(Mma<decltype(mma), T>);
  if (!a_is_independent) wait_and_let_next_start();
  Buffers pipeline(shared, a, b, position, begin, end < k ? end : k);
  pipeline.fill(
      [&] {
        if (a_is_independent) wait_and_let_next_start();
      },
      [&] {
        prologue.template run<Tile::threads>(static_cast<int>(part * gridDim.x) + tile,
                                             static_cast<int>(gridDim.y * gridDim.x));
      });
  mma.load(0, pipeline.a(), pipeline.b());
  while (pipeline.has_k_tile()) multiply_k_tile(mma, pipeline);
  pipeline.drain();
  Finish<T, Tile, decltype(mma)>(shared, position, mma, split).run(epilogue, m, n);
}
//! [tile_kernel]

/// How `blocks` share each of some tiles, with k steps.
/// @throws Error if the workspace has too little room; it has enough for max_split_k().
template <typename Tile, typename T>
SplitK<T> split_tiles(Index tiles, Index k, int blocks, Workspace& workspace) {
  const Index most = split_k_room(Index{sizeof(T)} * Tile::BM * Tile::BN);
  if (blocks > 1 && tiles * blocks > most) {
    throw Error("the workspace of a product has room for " + with_thousands(most) +
                " sums of blocks, not for those of " + with_thousands(blocks) + " for each of " +
                with_thousands(tiles) + " tiles");
  }
  const Index k_tiles = cuda::pieces(k, Tile::BK);
  return {static_cast<int>(k_tiles / blocks), static_cast<int>(k_tiles % blocks),
          workspace.partials<T>(), workspace.counters()};
}

/// The sizes of a product: C is m x n, m and n at least 1, with k steps.
struct ProductSize {
  Index m;
  Index n;
  Index k;
};

/// C = epilogue(op(A) op(B)) in tiles of one kind.
/// @param split_k how many blocks share a tile.
/// @param a_is_independent,prologue see tile_kernel().
/// @throws Error if the workspace has too little room.
template <template <typename, typename, typename> class MmaOf, TileConfig Tile, Matrix MatrixA,
          Matrix MatrixB, Epilogue E, Prologue P = NoPrologue>
void launch_tiles(cudaStream_t stream, const ProductSize& size, const MatrixA& a, const MatrixB& b,
                  const E& epilogue, int split_k, Workspace& workspace,
                  bool a_is_independent = false, const P& prologue = {}) {
  using T = typename MatrixA::Scalar;
  constexpr int sums = Tile::slice_k > 1 ? Tile::slice_k * Tile::BM * Tile::BN : 0;
  constexpr int elements = std::max(Pipeline<Tile, MatrixA, MatrixB>::elements, sums);
  constexpr auto* kernel = tile_kernel<MmaOf, Tile, MatrixA, MatrixB, E, P>;
  static const Index static_bytes = allow_shared_memory(kernel);
  const Index tiles = tile_count<Tile>(size.m, size.n);
  const int bytes = bytes_to_spread(static_bytes, tiles * split_k, elements * sizeof(T));
  const dim3 blocks(static_cast<unsigned>(tiles), static_cast<unsigned>(split_k));
  launch<Start::early, kernel>("product in tiles",
                               {blocks, dim3(Tile::threads), static_cast<std::size_t>(bytes)},
                               stream, static_cast<int>(size.m), static_cast<int>(size.n),
                               static_cast<int>(size.k), a, b, a_is_independent, epilogue, prologue,
                               split_tiles<Tile, T>(tiles, size.k, split_k, workspace));
}

}  // namespace stagewise::shared_memory
