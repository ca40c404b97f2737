/// @file
/// The tiles in which convolutions are multiplied, and the launch.
///
/// A convolution's products are narrow, since they have as many columns as there are output
/// channels, and high or deep, since there are many pixels. So the tables have other tiles than
/// those of layers (linear/layer_tiles.cuh). Each thread has a multiple of four rows, so that those
/// of a pooling window are its own.
#pragma once

#include "04_minibatch/convolution.hpp"
#include "04_minibatch/linear/layer_kernel.cuh"
#include "03_shared_memory/gemm/mma_tf32.cuh"

namespace stagewise::minibatch {

/// See LayerTiles. `apart` is the distance between the four rows of a thread that become one
/// pooling window: 1 where the rows of a vector are neighbours, else that of the unit that
/// multiplies.
template <typename T, Math math>
struct ConvolutionTiles;

//! [convolution_tiles]
template <>
struct ConvolutionTiles<float, Math::own> : LayerTiles<float> {
  // rate, BM, BN, BK, WM, WN, slices, stages, blocks
  using Vectors = TilingTable<
      RatedTiling<99, 128, 64, 16, 64, 32, 1, 3, 2>, RatedTiling<95, 128, 32, 16, 64, 32, 1, 3, 4>,
      RatedTiling<100, 32, 64, 32, 32, 32, 4, 4, 2>, RatedTiling<91, 32, 32, 32, 32, 32, 4, 4, 2>>;
  using Scalars = TilingTable<RatedTiling<80, 128, 32, 8, 64, 32, 1, 4, 4>,
                              RatedTiling<77, 64, 64, 16, 32, 32, 1, 4, 3>,
                              RatedTiling<65, 32, 32, 32, 32, 32, 4, 4, 2>>;
  template <typename Tiling>
  static constexpr int apart = Tiling::BK < 16 ? 1 : 8;
};

template <>
struct ConvolutionTiles<double, Math::own> : LayerTiles<double> {
  using Vectors = TilingTable<RatedTiling<123, 64, 64, 16, 32, 32, 1, 3, 3>,
                              RatedTiling<130, 32, 64, 32, 32, 32, 4, 4, 1>,
                              RatedTiling<121, 32, 32, 32, 32, 32, 4, 4, 3>>;
  using Scalars = TilingTable<RatedTiling<91, 64, 64, 16, 32, 32, 1, 3, 2>,
                              RatedTiling<90, 32, 32, 32, 32, 32, 4, 4, 2>>;
  template <typename Tiling>
  static constexpr int apart = 8;
};

template <>
struct ConvolutionTiles<float, Math::tf32> {
  template <typename Tiling, typename TileA, typename TileB>
  using Multiplier = shared_memory::MmaTf32<Tiling, TileA, TileB>;
  static constexpr bool turns_one = false;
  using Vectors = TilingTable<RatedTiling<330, 128, 64, 32, 64, 32, 1, 3, 2>,
                              RatedTiling<320, 128, 32, 32, 64, 32, 1, 3, 3>,
                              RatedTiling<330, 64, 64, 32, 32, 32, 1, 3, 2>,
                              RatedTiling<335, 32, 32, 64, 32, 32, 4, 3, 2>>;
  template <typename Tiling>
  static constexpr int apart = 8;
};
//! [convolution_tiles]

/// Calls `multiply` with the tiles for a Math, one of their tables, and how many numbers are copied
/// at once, as template arguments. Where channels are copied one by one, TF32 is not used.
template <typename T, typename Multiply>
void with_tables(Math math, bool have_vectors, const Multiply& multiply) {
  using Own = ConvolutionTiles<T, Math::own>;
  if (!have_vectors) return multiply.template operator()<Own, typename Own::Scalars, 1>();
  constexpr int vector = shared_memory::Vector<T>::length;
  if constexpr (std::is_same_v<T, float>) {  // doubles are multiplied in one way
    using Tf32 = ConvolutionTiles<T, Math::tf32>;
    if (math == Math::tf32) {
      return multiply.template operator()<Tf32, typename Tf32::Vectors, vector>();
    }
  }
  multiply.template operator()<Own, typename Own::Vectors, vector>();
}

/// Calls `multiply(tiling, parts)` with what suits a product of m x n with k steps.
template <typename Table, typename T, typename Multiply>
void with_planned_tiling(Index m, Index n, Index k, const Multiply& multiply) {
  constexpr auto& tiles = Table::template tiles<T>;
  const shared_memory::TilePlan plan =
      shared_memory::plan_tiles(std::span<const shared_memory::FittedTile<T>>(tiles), m, n, k);
  Table::with(plan.tile, [&](auto tiling) { multiply(tiling, plan.parts); });
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
  Table::for_each([&]<typename Tiling>(Tiling /*tiling*/) {
    if (!is_found && shared_memory::fits_block(Table::template tiles<T>[number])) {
      chosen = number;
      is_found = Tiling::BN <= n && shared_memory::tile_count<Tiling>(m, n) >= wanted;
    }
    ++number;
  });
  Table::with(chosen, multiply);
}

}  // namespace stagewise::minibatch
