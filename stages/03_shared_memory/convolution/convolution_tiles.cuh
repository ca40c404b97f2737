/// @file
/// The tiles in which convolutions are multiplied.
///
/// A convolution's products are narrow, since they have as many columns as there are output
/// channels, and high or deep, since there are many pixels. So the tables have other tiles than
/// those of stored matrices.
#pragma once

#include "03_shared_memory/gemm/fma_threads.cuh"
#include "03_shared_memory/gemm/mma_double.cuh"
#include "03_shared_memory/gemm/tile_table.cuh"
#include "cuda/device.hpp"

namespace stagewise::shared_memory {

/// The tables for a type of numbers: for channels that are copied in vectors, and for those that
/// are copied one by one. Each thread has a multiple of four rows, so that those of a pooling
/// window can be its own.
template <typename T>
struct ConvolutionTiles;

//! [convolution_tiles]
template <>
struct ConvolutionTiles<float> {
  // rate, BM, BN, BK, WM, WN, slices, stages, blocks
  using Vectors = TilingTable<
      FmaThreads,  //
      RatedTiling<99, 128, 64, 16, 64, 32, 1, 3, 2>, RatedTiling<95, 128, 32, 16, 64, 32, 1, 3, 4>,
      RatedTiling<100, 32, 64, 32, 32, 32, 4, 4, 2>, RatedTiling<91, 32, 32, 32, 32, 32, 4, 4, 2>>;
  using Scalars = TilingTable<FmaThreads,  //
                              RatedTiling<80, 128, 32, 8, 64, 32, 1, 4, 4>,
                              RatedTiling<77, 64, 64, 16, 32, 32, 1, 4, 3>,
                              RatedTiling<65, 32, 32, 32, 32, 32, 4, 4, 2>>;
};

template <>
struct ConvolutionTiles<double> {
  using Vectors = TilingTable<MmaDouble,  //
                              RatedTiling<123, 64, 64, 16, 32, 32, 1, 3, 3>,
                              RatedTiling<130, 32, 64, 32, 32, 32, 4, 4, 1>,
                              RatedTiling<121, 32, 32, 32, 32, 32, 4, 4, 3>>;
  using Scalars = TilingTable<MmaDouble,  //
                              RatedTiling<91, 64, 64, 16, 32, 32, 1, 3, 2>,
                              RatedTiling<90, 32, 32, 32, 32, 32, 4, 4, 2>>;
};
//! [convolution_tiles]

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

/// Calls `multiply(tiling)` with the first tiling that is not wider than n and gives at least four
/// tiles for each multiprocessor, or else with the last one; of those for which the GPU has the
/// shared memory. For tiles that take different times: with several each, the multiprocessors
/// finish at about the same time.
template <typename Table, typename T, typename Multiply>
void with_many_tiles(Index m, Index n, const Multiply& multiply) {
  const Index wanted = 4 * cuda::multiprocessors();
  std::size_t number = 0;
  std::size_t chosen = 0;
  bool is_found = false;
  Table::for_each([&]<typename Entry>(Entry /*entry*/) {
    using Tiling = typename Entry::Tiling;
    if (!is_found && fits_block(Table::template tiles<T>[number])) {
      chosen = number;
      is_found = Tiling::BN <= n && tile_count<Tiling>(m, n) >= wanted;
    }
    ++number;
  });
  Table::with(chosen, multiply);
}

}  // namespace stagewise::shared_memory
