/// @file
/// The product of the windows and the filter, in any table of tiles.
#pragma once

#include "03_shared_memory/convolution/convolution_tiles.cuh"
#include "04_minibatch/convolution/relu_pool.cuh"

namespace stagewise::minibatch {

/// The distance between the four rows of a thread that become one pooling window: 1 where the rows
/// of a vector are neighbours, else that of the unit that multiplies.
template <typename Table, typename Tile>
constexpr int rows_apart = Tile::BK < 16 && Table::transposes_b ? 1 : 8;

//! [convolution_relu_pool]
/// convolution_relu_pool() with the tables of `Tiles`: see shared_memory::ConvolutionTiles.
template <typename Tiles, typename T>
void convolution_relu_pool_in(cudaStream_t stream, const ConvolutionReluPoolProblem<T>& layer,
                              shared_memory::Workspace& workspace) {
  using shared_memory::is_aligned;
  using shared_memory::ProductSize;
  const ConvolutionProblem& p = layer.convolution;
  const auto multiply = [&]<typename Table, int length>() {
    const ProductSize size = {p.output_pixels(), p.out, p.window()};
    Table::template with_choice<T>(size, [&]<typename Tile>(Tile /*tile*/, int split_k) {
      constexpr int apart = rows_apart<Table, Tile>;
      Table::template launch<Tile>(
          stream,
          ProductSize{pooled_rows(p.output_pixels() / pooled_pixels, apart), p.out, p.window()},
          PooledWindows<T, length, apart>(p, layer.input),
          shared_memory::StridedMatrix<T, false, length>(layer.filter, p.out, p.window()),
          ReluPool<T, apart>(layer), split_k, workspace);
    });
  };
  shared_memory::with_table<Tiles, T>(
      is_aligned(layer.input, p.in) && is_aligned(layer.filter, p.out), multiply);
}
//! [convolution_relu_pool]

}  // namespace stagewise::minibatch
