/// @file
/// The gradient of a convolution's input; see taps.cuh for the idea.
#pragma once

#include "03_shared_memory/convolution/convolution_tiles.cuh"
#include "03_shared_memory/convolution/taps.cuh"

namespace stagewise::shared_memory {

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
    return out + static_cast<Index>((image * order.height() + y) * order.width() + x) * n;
  }

  /// See tiles/epilogue.cuh.
  template <typename Work>
  __device__ void with_finish(const Work& work) const {
    work(NoSource(), [](int /*row*/, T sum, T /*source*/) { return sum; });
  }
};

//! [input_gradient]
/// input_gradient() with the tables of `Tiles`: see ConvolutionTiles.
template <typename Tiles, typename T>
void input_gradient_in(cudaStream_t stream, const ConvolutionProblem& p, const T* filter,
                       const T* doutput, T* dinput, Workspace& workspace) {
  const ProductSize size = {p.batch * p.height * p.width, p.in,
                            p.filter_height * p.filter_width * p.out};
  const auto in = static_cast<int>(p.in);
  const auto out = static_cast<int>(p.out);
  const PixelOrder order(p);
  const PixelGradients<T> epilogue = {dinput, in, order, is_aligned(dinput, p.in)};
  const auto multiply = [&]<typename Table, int length>() {
    const GradientTaps<T, length> a = {doutput, out, order, TapSteps(p.out)};
    const FilterTaps<T, length, Table::transposes_b> b = {
        filter, in, out, static_cast<int>(p.filter_width), TapSteps(p.out)};
    with_many_tiles<Table, T>(size.m, size.n, [&]<typename Tile>(Tile /*tile*/) {
      Table::template launch<Tile>(stream, size, a, b, epilogue, 1, workspace);
    });
  };
  with_table<Tiles, T>(is_aligned(doutput, p.out) && is_aligned(filter, p.out), multiply);
}
//! [input_gradient]

}  // namespace stagewise::shared_memory
