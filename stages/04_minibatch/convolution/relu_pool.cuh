/// @file
/// Bias, relu and pooling where the product's sums are: in registers.
///
/// Stage 03 wrote the convolution, read and wrote it again to add the bias and again for the relu,
/// and read it once more to pool it. Here the four pixels of a window are in the registers of one
/// thread when their sums are complete (windows.cuh). What is left to write is their mean: a
/// quarter of the values, once. Training needs the values behind the relu as well, for the way
/// back; they are written, and not read.
///
/// Run it: `stage04_minibatch evaluate --model cnn ...`, or `train`.
/// Bytes, for pixels x out values: a quarter of them written, and all where `activated` is asked
/// for; stage 03 moves 6.25 times as many as there are.
#pragma once

#include "03_shared_memory/convolution/convolution_tiles.cuh"
#include "04_minibatch/convolution/windows.cuh"

namespace stagewise::minibatch {

//! [relu_pool]
/// An epilogue that takes neighbours of four rows: see tiles/finish.cuh.
/// @tparam apart see windows.cuh.
template <typename T, int apart>
struct ReluPool {
  static constexpr bool four_rows = true;
  static constexpr int read_ahead = 0;

  PoolingOrder order;
  int windows;
  const T* bias;  ///< null: none
  T* activated;   ///< null: not stored
  T* out;
  bool vectors;  ///< whether activated and out can be written 16 bytes at a time

  explicit ReluPool(const ConvolutionReluPoolProblem<T>& p)
      : order(p.convolution.output_width()),
        windows(static_cast<int>(p.convolution.output_pixels() / pooled_pixels)),
        bias(p.bias),
        activated(p.activated),
        out(p.output),
        vectors(shared_memory::is_aligned(p.output, p.convolution.out) &&
                shared_memory::is_aligned(p.activated, p.convolution.out) &&
                shared_memory::is_aligned(p.bias, p.convolution.out)) {}

  /// @param row the first of the window's rows, `column` the first of its channels; there are n.
  template <int neighbours>
  __device__ __forceinline__ void operator()(
      int row, int column, int n,
      const T (&sums)[pooled_pixels][neighbours]) const {  // NOLINT(modernize-avoid-c-arrays)
    const int window = PooledRow<apart>(row).window;
    if (window >= windows || column >= n) return;
    T biases[neighbours] = {};
    if (bias != nullptr) {
      shared_memory::load_neighbours<neighbours>(bias, column, n, vectors, biases);
    }
    T means[neighbours] = {};
#pragma unroll
    for (int i = 0; i < pooled_pixels; ++i) {
      T values[neighbours];
#pragma unroll
      for (int v = 0; v < neighbours; ++v) {
        const T x = sums[i][v] + biases[v];
        values[v] = x < 0 ? T{0} : x;  // a NaN is not < 0 and stays
        means[v] += values[v] * (T{1} / pooled_pixels);
      }
      if (activated != nullptr) {
        T* const to = activated + static_cast<Index>(order.pixel(window, i)) * n;
        shared_memory::store_neighbours<neighbours>(to, column, n, vectors, values);
      }
    }
    shared_memory::store_neighbours<neighbours>(out + static_cast<Index>(window) * n, column, n,
                                                vectors, means);
  }
};
//! [relu_pool]

/// The distance between the four rows of a thread that become one pooling window: 1 where the rows
/// of a vector are neighbours, else that of the unit that multiplies.
template <typename Table, typename Tile>
constexpr int rows_apart = Tile::BK < 16 && Table::transposes_b ? 1 : 8;

/// convolution_relu_pool() with the tables of `Tiles`: see shared_memory::ConvolutionTiles.
template <typename Tiles, typename T>
void convolution_relu_pool_in(cudaStream_t stream, const ConvolutionReluPoolProblem<T>& layer,
                              Workspace& workspace) {
  using shared_memory::is_aligned;
  using shared_memory::ProductSize;
  const ConvolutionProblem& p = layer.convolution;
  const auto multiply = [&]<typename Table, int length>() {
    const ProductSize size = {p.output_pixels(), p.out, p.window()};
    Table::template with_choice<T>(size, [&]<typename Tile>(Tile /*tile*/, int split_k) {
      constexpr int apart = rows_apart<Table, Tile>;
      shared_memory::launch_tiles<Tile>(
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

}  // namespace stagewise::minibatch
