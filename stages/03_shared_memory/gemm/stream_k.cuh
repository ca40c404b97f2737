/// @file
/// Stream-K: every block gets the same number of k tiles. The kernel of rung 13.
///
/// Divide every tile into k tiles, lay the k tiles of all tiles in one row, and give each block an
/// equal piece of the row. A piece may begin and end in the middle of a tile:
///
///     tile     |    0    |    1    |    2    |    3    |    4    |
///     block    |      0      |      1      |      2      |   ...
///
/// So several blocks may share a tile. Each stores its sums in the workspace; the last one to do so
/// adds up all of them, in the order of the blocks, and finishes the tile. No block waits for
/// another.
#pragma once

#include "03_shared_memory/gemm/main_loop.cuh"
#include "03_shared_memory/reduce/last_block.cuh"
#include "03_shared_memory/workspace.hpp"
#include "cuda/check.hpp"
#include "cuda/device.hpp"
#include "cuda/launch.cuh"

namespace stagewise::shared_memory {

/// Where blocks store the sums of shared tiles: two places per block, since its piece may begin in
/// one tile and end in another.
template <typename T, typename Tiling>
struct UnfinishedTiles {
  T* partials;
  unsigned* counters;  ///< by a tile's first block: how many blocks have handed it in

  /// The sum number `i` of this thread, in one of the two places of a block.
  __device__ T& sum(int block, bool is_first_tile, int i) const {
    constexpr int sums = Tiling::TM * Tiling::TN;
    const int place = 2 * block + (is_first_tile ? 0 : 1);
    return partials[(place * sums + i) * Tiling::threads + static_cast<int>(threadIdx.x)];
  }
};

//! [hand_in]
/// Stores this block's sums of a tile. The last block to do so gets the total of all blocks.
/// @param first the tile's first k tile in the row; `end` is one past its last.
/// @return whether this block is the last; the same for all of its threads.
template <typename T, typename Tiling>
__device__ bool hand_in(const UnfinishedTiles<T, Tiling>& tiles, const KTileRow& row, int first,
                        int end, Sums<T, Tiling>& sums) {
  const auto block = static_cast<int>(blockIdx.x);
  const int first_block = row.owner(first);
  const int last_block = row.owner(end - 1);
#pragma unroll
  for (int i = 0; i < Tiling::TM * Tiling::TN; ++i) {
    tiles.sum(block, row.begin(block) >= first, i) = sums.values[i / Tiling::TN][i % Tiling::TN];
  }

  const auto blocks = static_cast<unsigned>(last_block - first_block + 1);
  if (!is_last_block(tiles.counters + first_block, blocks)) return false;

  sums = {};
#pragma unroll 4  // so that the loads of four blocks are in flight together
  for (int other = first_block; other <= last_block; ++other) {
#pragma unroll
    for (int i = 0; i < Tiling::TM * Tiling::TN; ++i) {
      sums.values[i / Tiling::TN][i % Tiling::TN] += tiles.sum(other, row.begin(other) >= first, i);
    }
  }
  return true;
}
//! [hand_in]

//! [stream_k]
template <template <typename, typename, typename, int> class Copies, int stages, typename T,
          typename Tiling, typename LoaderA, typename LoaderB, typename Epilogue>
__global__ void __launch_bounds__(Tiling::threads)
    stream_k_kernel(int m, int n, int depth, LoaderA a, LoaderB b, Epilogue epilogue, KTileRow row,
                    UnfinishedTiles<T, Tiling> tiles) {
  __shared__ KTiles<Copies, stages, T, Tiling, LoaderA, LoaderB> k_tiles;
  const TileOrder<Tiling> order = {m, n};
  const int end = row.begin(static_cast<int>(blockIdx.x) + 1);
  for (int k_tile = row.begin(static_cast<int>(blockIdx.x)); k_tile < end;) {
    const int tile = k_tile / depth;  // `depth` k tiles per tile
    const int first = tile * depth;
    const int stop = end < first + depth ? end : first + depth;
    const TilePlace place = order.place(tile);
    Sums<T, Tiling> sums;
    multiply<Copies>(k_tiles, a, b, place, k_tile - first, stop - first, sums);
    const bool is_whole = k_tile == first && stop == first + depth;
    if (is_whole || hand_in(tiles, row, first, first + depth, sums)) {
      finish_tile(epilogue, place, m, n, sums);
    }
    k_tile = stop;
  }
}
//! [stream_k]

/// C = epilogue(op(A) op(B)), m, n at least 1.
/// @param max_blocks how many blocks share the work, if there is enough of it.
template <template <typename, typename, typename, int> class Copies, int stages, typename T,
          typename Tiling, typename LoaderA, typename LoaderB, typename Epilogue>
void launch_stream_k(cudaStream_t stream, Index m, Index n, Index k, const LoaderA& a,
                     const LoaderB& b, const Epilogue& epilogue, Index max_blocks,
                     Workspace& workspace) {
  constexpr Index min_k_tiles = 2;  // adding up a tile must not take longer than multiplying it
  constexpr Index tile_elements = Index{Tiling::BM} * Tiling::BN;
  const Index depth = std::max<Index>(cuda::pieces(k, Tiling::BK), 1);
  const Index tiles = tile_count<Tiling>(m, n);
  const Index k_tiles = tiles * depth;
  const Index room =
      std::min(Workspace::capacity<T>() / (2 * tile_elements), Workspace::counter_count);
  const Index wanted = std::min(max_blocks, std::max(tiles, k_tiles / min_k_tiles));
  const Index blocks = std::min({wanted, room, k_tiles});
  stream_k_kernel<Copies, stages, T, Tiling>
      <<<static_cast<unsigned>(blocks), Tiling::threads, 0, stream>>>(
          static_cast<int>(m), static_cast<int>(n), static_cast<int>(depth), a, b, epilogue,
          KTileRow{static_cast<int>(k_tiles / blocks), static_cast<int>(k_tiles % blocks)},
          UnfinishedTiles<T, Tiling>{workspace.partials<T>(), workspace.counters()});
  CUDA_CHECK_LAUNCH("gemm (stream-k)");
}

/// Whether sizes and the number of k tiles fit into ints.
inline bool fits_stream_k(Index m, Index n, Index k) {
  // The smallest tile has 32 x 32 elements, or 16 x 64, and k tiles of 8 steps or more.
  const double k_tiles = (static_cast<double>(m) / 16 + 1) * (static_cast<double>(n) / 16 + 1) / 4 *
                         (static_cast<double>(k) / 8 + 1);
  return fits_ints(m, n, k) && k_tiles < 2e9;
}

//! [multiply_stream_k]
/// C = epilogue(op(A) op(B)), m, n at least 1, in tiles that suit the shape of C: 64 x 16 or 16 x
/// 64 if C is that narrow; 64 x 64 if there is such a tile for each multiprocessor, or if k is so
/// long that each gets plenty of k tiles; otherwise 32 x 32. The sizes must fit; see
/// fits_stream_k().
template <typename T, typename LoaderA, typename LoaderB, typename Epilogue>
void multiply_stream_k(cudaStream_t stream, Index m, Index n, Index k, const LoaderA& a,
                       const LoaderB& b, const Epilogue& epilogue, Workspace& workspace) {
  constexpr Index narrow = 16;
  constexpr Index plenty = 32;
  const Index multiprocessors = cuda::multiprocessors();
  const auto run = [&]<typename Tiling>(Tiling /*tiling*/) {
    launch_stream_k<AsyncCopies, async_stages, T, Tiling>(stream, m, n, k, a, b, epilogue,
                                                          4 * multiprocessors, workspace);
  };
  using Medium = typename Tilings<T>::Medium;
  const Index tiles = tile_count<Medium>(m, n);
  const bool has_plenty =
      tiles >= multiprocessors || tiles * cuda::pieces(k, Medium::BK) >= plenty * multiprocessors;
  if (n <= narrow) {
    run(typename Tilings<T>::Tall());
  } else if (m <= narrow) {
    run(typename Tilings<T>::Flat());
  } else if (std::min(m, n) > 32 && has_plenty) {
    run(Medium());
  } else {
    run(typename Tilings<T>::Small());
  }
}
//! [multiply_stream_k]

}  // namespace stagewise::shared_memory
