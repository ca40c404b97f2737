/// @file
/// Rung 3, "padded": a 33rd column that nobody uses.
///
/// In rung 2's tile, the elements of a column lay 32 words apart, in one bank. With rows of 33
/// words, each element lies a bank further than the one above it:
///
///     element (row, column) is in bank (33 row + column) mod 32 = (row + column) mod 32
///
/// so that the 32 threads of a warp use 32 banks, along rows and along columns. A double takes two
/// banks and is served half a warp at a time: (66 row + 2 column) mod 32 does for 16 of them.
///
/// What is slow now: each of 1,024 threads moves a single element, and must find out where from and
/// where to.
///
/// Run it: `ladder transpose --rung padded`.
/// Work: as rung 2; 32 words of shared memory more for a tile.
/// Measured on an H200, 4096 x 4096: 85.2 us in float, 98.7 us in double.
#pragma once

#include "ladders/transpose/2_tile.cuh"

namespace stagewise::shared_memory {

//! [padded]
/// In place of PlainTile.
template <int side_>
struct PaddedTile {
  static constexpr int side = side_;
  static constexpr int width = side + 1;

  /// Where in its row an element is kept.
  static __device__ int column(int /*row*/, int column) { return column; }
};
//! [padded]

}  // namespace stagewise::shared_memory
