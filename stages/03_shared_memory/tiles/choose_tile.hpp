/// @file
/// Which tile suits a product, and how many blocks share one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

#include "cuda/device.hpp"
#include "cuda/workspace.hpp"
#include "tensor/shape.hpp"

namespace stagewise::shared_memory {

/// A tile of a table; see Tile.
struct TileInfo {
  int BM;
  int BN;
  int BK;
  int slice_k;
  int buffers;
  int blocks;              ///< that have room on a multiprocessor
  int results;             ///< that a thread stores
  int scalar_bytes;        ///< of a number
  int bytes;               ///< of shared memory that a block needs
  double rate;             ///< multiply-adds of a multiprocessor per cycle, where factors are
                           ///< copied in vectors; 0 if there is no kernel for them
  double rate_of_scalars;  ///< likewise, where they are copied scalar by scalar

  /// How many such tiles a matrix of m x n has, m and n at least 1.
  Index count(Index m, Index n) const { return ((m - 1) / BM + 1) * ((n - 1) / BN + 1); }

  /// Whether there is a kernel for factors that are copied in vectors, or scalar by scalar.
  bool takes(bool vectors) const { return (vectors ? rate : rate_of_scalars) > 0; }
};

/// How a product is computed.
struct TileChoice {
  std::size_t tile = 0;                                     ///< the tile's index in the table
  int split_k = 1;                                          ///< how many blocks share a tile
  double cycles = std::numeric_limits<double>::infinity();  ///< what that takes, estimated
};

/// If many blocks share a tile, this many form a group, each of which is added up by a block.
constexpr int split_k_group = 16;

/// How many groups there are; 0 if the blocks are few.
constexpr int split_k_groups(int blocks) {
  return blocks <= 2 * split_k_group ? 0 : (blocks + split_k_group - 1) / split_k_group;
}

/// How many blocks can share all tiles together: each needs room for its sums in the workspace. The
/// counters suffice, too: tiles and groups, with one counter each, are never more than blocks.
constexpr Index split_k_room(Index tile_bytes) {
  return std::min(Workspace::capacity<std::byte>() / tile_bytes, Workspace::counter_count);
}

/// How many blocks can share a tile: each must have a few k tiles, and their sums room in the
/// workspace.
int max_split_k(const TileInfo& tile, Index m, Index n, Index k);

/// Whether the current GPU has the shared memory for a tile, and for what kernels have without
/// asking.
inline bool fits_block(const TileInfo& tile) {
  constexpr int static_bytes = 6 * 1024;
  return tile.bytes <= cuda::shared_memory_per_block() - static_bytes;
}

/// How many blocks should share a tile, m and n at least 1. The choice's `tile` is 0.
/// @param vectors whether the factors are copied in vectors.
TileChoice choose_split_k(const TileInfo& tile, Index m, Index n, Index k, bool vectors = true);

/// The best choice of a tile of the table for which the current GPU has the shared memory.
/// @param vectors as above.
TileChoice choose_tile(std::span<const TileInfo> table, Index m, Index n, Index k,
                       bool vectors = true);

/// The same, remembered: to choose takes the host 2 us, as long as launching a kernel.
/// @pre the table is never changed.
TileChoice remembered_choice(std::span<const TileInfo> table, Index m, Index n, Index k,
                             bool vectors = true);

}  // namespace stagewise::shared_memory
