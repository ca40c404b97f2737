/// @file
/// The tiles in which convolutions are multiplied.
///
/// A convolution's products are narrow, since they have as many columns as there are output
/// channels, and high or deep, since there are many pixels. So the tables have other tiles than
/// those of stored matrices.
#pragma once

#include "03_shared_memory/tiles/fma.cuh"
#include "03_shared_memory/tiles/kernel.cuh"
#include "03_shared_memory/tiles/matrix.cuh"
#include "03_shared_memory/tiles/mma_double.cuh"
#include "cuda/device.hpp"

namespace stagewise::shared_memory {

/// The tables for a type of numbers: for channels that are copied in vectors, and for those that
/// are copied one by one. Each lane has a multiple of four rows, so that those of a pooling
/// window can be its own.
template <typename T>
struct ConvolutionTiles;

template <>
struct ConvolutionTiles<float> {
  // rate, BM, BN, BK, WM, WN, slice-k, buffers, blocks
  using Vectors = LayerTable<
      Fma,  //
      RatedTile<99, 128, 64, 16, 64, 32, 1, 3, 2>, RatedTile<95, 128, 32, 16, 64, 32, 1, 3, 4>,
      RatedTile<100, 32, 64, 32, 32, 32, 4, 4, 2>, RatedTile<91, 32, 32, 32, 32, 32, 4, 4, 2>>;
  using Scalars = LayerTable<Fma,  //
                             RatedTile<80, 128, 32, 8, 64, 32, 1, 4, 4>,
                             RatedTile<77, 64, 64, 16, 32, 32, 1, 4, 3>,
                             RatedTile<65, 32, 32, 32, 32, 32, 4, 4, 2>>;
};

template <>
struct ConvolutionTiles<double> {
  using Vectors = LayerTable<MmaDouble,  //
                             RatedTile<123, 64, 64, 16, 32, 32, 1, 3, 3>,
                             RatedTile<130, 32, 64, 32, 32, 32, 4, 4, 1>,
                             RatedTile<121, 32, 32, 32, 32, 32, 4, 4, 3>>;
  using Scalars = LayerTable<MmaDouble,  //
                             RatedTile<91, 64, 64, 16, 32, 32, 1, 3, 2>,
                             RatedTile<90, 32, 32, 32, 32, 32, 4, 4, 2>>;
};

/// Calls `multiply` with one of two tables, and how many numbers are copied at once, as template
/// arguments.
template <typename Tiles, typename T, typename Multiply>
void with_table(bool have_vectors, const Multiply& multiply) {
  if (have_vectors) {
    multiply.template operator()<typename Tiles::Vectors, Vector<T>::length>();
  } else {
    multiply.template operator()<typename Tiles::Scalars, 1>();
  }
}

/// Calls `multiply(tile)` with the first tile that is not wider than n and gives at least four
/// tiles for each multiprocessor, or else with the last one; of those for which the GPU has the
/// shared memory. For tiles that take different times: with several each, the multiprocessors
/// finish at about the same time.
template <typename Table, typename T, typename Multiply>
void with_many_tiles(Index m, Index n, const Multiply& multiply) {
  const Index wanted = 4 * cuda::multiprocessors();
  const auto& tiles = Table::template tiles<T>;
  std::size_t chosen = 0;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    if (!fits_block(tiles[i])) continue;
    chosen = i;
    if (tiles[i].BN <= n && tiles[i].count(m, n) >= wanted) break;
  }
  Table::with(chosen, multiply);
}

}  // namespace stagewise::shared_memory
