/// @file
/// The products of a convolution, in any table of tiles: with its windows as rows, as columns, and
/// with taps.
#pragma once

#include "03_shared_memory/convolution/convolution_tiles.cuh"
#include "03_shared_memory/convolution/taps.cuh"
#include "03_shared_memory/convolution/windows.cuh"
#include "03_shared_memory/tiles/alpha_beta.cuh"

namespace stagewise::shared_memory {

//! [implicit]
/// c = windows x b, with the windows loaded from the input; `b` has p.out columns.
/// @tparam Tiles the tables: see ConvolutionTiles.
/// @tparam WindowFactor WindowRows or WindowColumns.
template <typename Tiles, template <typename, int> class WindowFactor, typename T>
void multiply_windows(cudaStream_t stream, const ConvolutionProblem& p, const ProductSize& size,
                      const T* input, const T* b, T* c, Workspace& workspace) {
  const auto multiply = [&]<typename Table, int length>() {
    Table::template with_choice<T>(size, [&]<typename Tile>(Tile /*tile*/, int split_k) {
      launch_tiles<Tile>(stream, size, WindowFactor<T, length>{input, Windows(p)},
                         StridedMatrix<T, false, length>(b, size.n, size.k),
                         AlphaBeta<T>(c, size.n, T{1}, T{0}), split_k, workspace);
    });
  };
  with_table<Tiles, T>(is_aligned(input, p.in) && is_aligned(b, p.out), multiply);
}
//! [implicit]

/// output = windows x filter.
template <typename Tiles, typename T>
void multiply_filter(cudaStream_t stream, const ConvolutionProblem& p, const T* input,
                     const T* filter, T* output, Workspace& workspace) {
  multiply_windows<Tiles, WindowRows>(stream, p, {p.output_pixels(), p.out, p.window()}, input,
                                      filter, output, workspace);
}

/// The gradient of the filter: dfilter = windows^T doutput.
///
/// The result is small, and k is long: for report 001's layers 25 x 32 and 800 x 64, with 576 and
/// 64 steps for each image. So many blocks share a tile, each for a part of the pixels.
template <typename Tiles, typename T>
void filter_gradient(cudaStream_t stream, const ConvolutionProblem& p, const T* input,
                     const T* doutput, T* dfilter, Workspace& workspace) {
  multiply_windows<Tiles, WindowColumns>(stream, p, {p.window(), p.out, p.output_pixels()}, input,
                                         doutput, dfilter, workspace);
}

/// An epilogue: the sums are stored where the pixels are.
template <typename T>
struct PixelGradients {
  static constexpr int read_ahead = 0;

  T* out;
  int n;  ///< channels
  PixelOrder order;
  bool vectors;

  /// Where row number `i` is stored.
  __device__ T* row(int i) const {
    const auto [image, y, x] = order.pixel(i);
    return out + static_cast<Index>((image * order.height + y) * order.width + x) * n;
  }

  /// See tiles/finish.cuh.
  template <typename Work>
  __device__ void with_finish(const Work& work) const {
    work(NoSource(), [](int /*row*/, T sum, T /*source*/) { return sum; });
  }
};

/// The gradient of the input: of each value, the sum over all windows in which it is; see taps.cuh
/// for the idea.
template <typename Tiles, typename T>
void input_gradient(cudaStream_t stream, const ConvolutionProblem& p, const T* filter,
                    const T* doutput, T* dinput, Workspace& workspace) {
  const ProductSize size = {p.batch * p.height * p.width, p.in,
                            p.filter_height * p.filter_width * p.out};
  const auto in = static_cast<int>(p.in);
  const auto out = static_cast<int>(p.out);
  const cuda::FastDivmod by_out(out);
  const PixelOrder order(p);
  const PixelGradients<T> epilogue = {dinput, in, order, is_aligned(dinput, p.in)};
  const auto multiply = [&]<typename Table, int length>() {
    const GradientTaps<T, length> a = {doutput, out, order, by_out};
    const FilterTaps<T, length, Table::transposes_b> b = {filter, in, out,
                                                          static_cast<int>(p.filter_width), by_out};
    with_many_tiles<Table, T>(size.m, size.n, [&]<typename Tile>(Tile /*tile*/) {
      launch_tiles<Tile>(stream, size, a, b, epilogue, 1, workspace);
    });
  };
  with_table<Tiles, T>(is_aligned(doutput, p.out) && is_aligned(filter, p.out), multiply);
}

}  // namespace stagewise::shared_memory
