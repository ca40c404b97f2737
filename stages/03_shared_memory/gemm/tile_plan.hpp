/// @file
/// Which tile suits a product, and how many blocks share one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

#include <cuda_runtime.h>

#include "03_shared_memory/workspace.hpp"
#include "cuda/device.hpp"
#include "network/problems.hpp"

namespace stagewise::shared_memory {

/// A tiling in a table of those that a rung chooses from; see SlicedTiling.
template <typename T>
struct FittedTile {
  int BM;
  int BN;
  int BK;
  int slices;
  int stages;              ///< k tiles of a factor in shared memory
  int blocks;              ///< that have room on a multiprocessor
  int results;             ///< that a thread stores
  int bytes;               ///< of shared memory that a block needs
  double rate;             ///< multiply-adds of a multiprocessor per cycle, where factors are
                           ///< copied in vectors; 0 if there is no kernel for them
  double rate_of_numbers;  ///< likewise, where they are copied number by number

  /// Enqueues a product, m and n at least 1.
  /// @param parts how many blocks share a tile, at most max_parts().
  void (*run)(cudaStream_t stream, const GemmProblem<T>& problem, int parts, Workspace& workspace);

  /// Whether there is a kernel for factors that are copied in vectors, or number by number.
  bool takes(bool vectors) const { return (vectors ? rate : rate_of_numbers) > 0; }
};

/// How a product is computed.
struct TilePlan {
  std::size_t tile = 0;  ///< the number of its tiling in the table
  int parts = 1;         ///< how many blocks share a tile
  double cycles = std::numeric_limits<double>::infinity();  ///< what that takes, estimated
};

/// If a tile has many parts, each block adds up a group of this many, and one adds up the groups.
constexpr int parts_in_group = 16;

/// How many groups there are; 0 if the parts are few.
constexpr int groups_of_parts(int parts) {
  return parts <= 2 * parts_in_group ? 0 : (parts + parts_in_group - 1) / parts_in_group;
}

/// How many parts all tiles together can have if blocks share them: each part needs room for its
/// sums in the workspace. The counters suffice, too: tiles and groups, with one counter each, are
/// never more than parts.
template <typename T>
constexpr Index max_parts_of_all(int tile_elements) {
  return std::min(Workspace::capacity<T>() / tile_elements, Workspace::counter_count);
}

/// How many blocks can share a tile: each must have a few k tiles, and their sums room in the
/// workspace.
template <typename T>
int max_parts(const FittedTile<T>& tile, Index m, Index n, Index k);

/// Whether the current GPU has the shared memory for a tile, and for what kernels have besides.
template <typename T>
bool fits_block(const FittedTile<T>& tile) {
  constexpr int besides = 6 * 1024;
  return tile.bytes <= cuda::shared_memory_per_block() - besides;
}

/// Whether a product's factors are copied in vectors, since both consist of them. Two transposed
/// factors, which no network multiplies, have kernels for single numbers only.
template <typename T>
bool copies_vectors(const GemmProblem<T>& p);

/// The best number of parts for a tile, m and n at least 1. The plan's `tile` is 0.
/// @param vectors whether the factors are copied in vectors.
template <typename T>
TilePlan plan_tile(const FittedTile<T>& tile, Index m, Index n, Index k, bool vectors = true);

/// C = alpha op(A) op(B) + beta C, m and n at least 1, with the tile of the table that is planned.
template <typename T>
void gemm_planned_tiles(cudaStream_t stream, const GemmProblem<T>& problem,
                        std::span<const FittedTile<T>> table, Workspace& workspace);

/// The best plan with a tile of the table for which the current GPU has the shared memory.
/// @param vectors as above.
template <typename T>
TilePlan plan_tiles(std::span<const FittedTile<T>> table, Index m, Index n, Index k,
                    bool vectors = true);

/// The same, remembered: making a plan takes the host 2 us, as long as launching a kernel.
/// @pre the table is never changed.
template <typename T>
TilePlan remembered_plan(std::span<const FittedTile<T>> table, Index m, Index n, Index k,
                         bool vectors = true);

}  // namespace stagewise::shared_memory
