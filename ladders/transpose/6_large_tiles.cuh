/// @file
/// Rung 6, "large-tiles": tiles of 64 x 64, where there are many of them.
///
/// Up to rung 5, a thread had four elements on their way and then waited at a barrier for all of
/// its block: in float at most 32 KiB a multiprocessor, and nothing while the tile is stored. And a
/// row of a tile had 128 bytes, after which the memory had to look for another place. Here, a
/// thread moves 16 elements of a tile with rows of 256 bytes.
///
/// A small matrix has too few such tiles for all multiprocessors, and keeps those of 32 x 32.
/// Rung 5 saved shared memory that is not short here, for an instruction an element; so this one
/// goes back to rung 4's padding.
///
/// What is slow now: four instructions for each element, to load it, to put it into the tile, to
/// take it from there and to store it.
///
/// Run it: `ladder transpose --rung large-tiles`.
/// Work: as rung 4, with a quarter of the blocks.
/// Measured on an H200, 4096 x 4096: 41.8 us in float, 74.5 us in double.
#pragma once

#include "cuda/device.hpp"
#include "ladders/transpose/4_rows.cuh"

namespace stagewise::shared_memory {

//! [large_tiles]
constexpr int large_side = 64;

/// Whether there are four large tiles for each multiprocessor.
template <typename T>
bool has_many_large_tiles(const TransposeProblem<T>& p) {
  return cuda::pieces(p.rows, large_side) * cuda::pieces(p.cols, large_side) >= Index{4} * cuda::multiprocessors();
}

/// Enqueues the transposition of any matrix.
template <Start start, typename T>
void transpose_large_tiles(cudaStream_t stream, const TransposeProblem<T>& p, Workspace& workspace) {
  if (has_many_large_tiles(p)) {
    transpose_rows<PaddedTile<large_side>, start>(stream, p, workspace);
  } else {
    transpose_rows<PaddedTile<tile_side>, start>(stream, p, workspace);
  }
}
//! [large_tiles]

}  // namespace stagewise::shared_memory
