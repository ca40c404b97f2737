/// @file
/// Split-k: several blocks share a tile, each with a part of k, and the last of them adds up.
///
/// A block leaves its sums in the workspace, and then counts itself: is_last_block()
/// (reduce/last_block.cuh) tells it whether all others have counted themselves before, and so left
/// their sums. The last adds up those of all, always in the same order. If more than 32 blocks
/// share a tile, they form groups of 16: the last block of a group adds up the group's sums, and
/// the last of all blocks those of the groups.
#pragma once

#include "03_shared_memory/reduce/last_block.cuh"
#include "03_shared_memory/tiles/choose_tile.hpp"
#include "cuda/launch.cuh"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"

namespace stagewise::shared_memory {

/// How several blocks share a tile: each multiplies `share` of its k tiles, the first `longer` of
/// them one more.
template <typename T>
struct SplitK {
  int share;
  int longer;
  T* sums;             ///< room for those of each block, as large as the tile; a tile's in sequence
  unsigned* counters;  ///< see SplitSums::is_last(): 0 before and after

  /// The first k tile of a block; its last is the one before the next block's first.
  __device__ int begin(int block) const {
    return block * share + (block < longer ? block : longer);
  }
};

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

/// What the blocks of a tile have left, `thread_sums` a thread.
template <typename T, typename Tile, int thread_sums>
struct SplitSums {
  T* sums;
  int count;      ///< blocks
  int apart = 1;  ///< from one block's to the next

  /// Where this thread's sum `i` is, or that of the same thread of another block.
  __device__ T& at(int block, int i) const {
    constexpr int of_block = thread_sums * Tile::slice_threads;
    return sums[block * apart * of_block + i * Tile::slice_threads + Tile::slice_thread()];
  }

  /// The totals of all blocks, of the sums with the indices that `index` gives.
  template <int number, typename IndexOf>
  __device__ __forceinline__ void operator()(T (&total)[number], const IndexOf& index) const {
#pragma unroll
    for (int j = 0; j < number; ++j) total[j] = 0;
#pragma unroll 4  // so that the loads of four blocks are in flight together
    for (int block = 0; block < count; ++block) {
#pragma unroll
      for (int j = 0; j < number; ++j) total[j] += at(block, index(j));
    }
  }

  /// Whether this block is the last to leave its sums, so that it finishes the tile. In groups, the
  /// sum of a group is left in place of its first block's.
  ///
  /// There is a counter for each tile, and behind these one for each group; they suffice, see
  /// split_k_room().
  __device__ __forceinline__ bool is_last(unsigned* counters) {
    unsigned* const counter = counters + blockIdx.x;
    const auto blocks = static_cast<int>(gridDim.y);
    const int groups = split_k_groups(blocks);
    if (groups == 0) return is_last_block(counter, gridDim.y);
    const int first = static_cast<int>(blockIdx.y) / split_k_group * split_k_group;
    const int size = blocks - first < split_k_group ? blocks - first : split_k_group;
    unsigned* const of_group = counters + gridDim.x + blockIdx.x * groups + first / split_k_group;
    if (!is_last_block(of_group, static_cast<unsigned>(size))) return false;

    constexpr int at_once = thread_sums % (8 * Tile::slice_k) == 0 ? 8 : 2;
    const SplitSums group = {&at(first, 0) - Tile::slice_thread(), size};
#pragma unroll 1
    for (int i = Tile::slice() * at_once; i < thread_sums; i += Tile::slice_k * at_once) {
      T totals[at_once];
      group(totals, [&](int j) { return i + j; });
#pragma unroll
      for (int j = 0; j < at_once; ++j) group.at(0, i + j) = totals[j];
    }
    count = groups;
    apart = split_k_group;
    return is_last_block(counter, static_cast<unsigned>(groups));
  }
};

}  // namespace stagewise::shared_memory
