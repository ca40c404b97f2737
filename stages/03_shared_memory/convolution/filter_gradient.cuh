/// @file
/// The gradient of a convolution's filter: dfilter = windows^T doutput.
///
/// The result is small, and k is long: for report 001's layers 25 x 32 and 800 x 64, with 576 and
/// 64 steps for each image. So many blocks share a tile, each for a part of the pixels.
#pragma once

#include "03_shared_memory/convolution/convolution_tiles.cuh"
#include "03_shared_memory/convolution/windows.cuh"

namespace stagewise::shared_memory {

//! [filter_gradient]
/// filter_gradient() with the tables of `Tiles`: see ConvolutionTiles.
template <typename Tiles, typename T>
void filter_gradient_in(cudaStream_t stream, const ConvolutionProblem& p, const T* input,
                        const T* doutput, T* dfilter, Workspace& workspace) {
  const ProductSize size = {p.window(), p.out, p.output_pixels()};
  const auto n = static_cast<int>(p.out);
  const auto k = static_cast<int>(p.output_pixels());
  const auto multiply = [&]<typename Table, int length>() {
    Table::template with_choice<T>(size, [&]<typename Tile>(Tile /*tile*/, int split_k) {
      Table::template launch<Tile>(stream, size, WindowColumns<T, length>{input, Windows(p)},
                                   StridedMatrix<T, false, length>{doutput, n, k},
                                   AlphaBeta<T>(dfilter, n, T{1}, T{0}), split_k, workspace);
    });
  };
  with_table<Tiles, T>(is_aligned(input, p.in) && is_aligned(doutput, p.out), multiply);
}
//! [filter_gradient]

}  // namespace stagewise::shared_memory
