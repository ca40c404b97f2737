/// @file
/// The windows of a convolution as factors of a product, with their values where they are.
///
/// Stored as a matrix, a window a row, they would be filter_height x filter_width times as large as
/// the input. But the product asks for its elements by row and step, and where one lies in the
/// input can be worked out: the row is an output pixel, the step a position in its window, and
/// their offsets into the input add up. So the matrix exists only tile by tile, in shared memory.
///
/// To work it out takes divisions, which are done as multiplications (cuda::FastDivmod): those of a
/// row once for a tile, those of a step once for a k tile (offset_copies.cuh).
///
/// Run it: `stage03_shared_memory train --model cnn`.
/// Bytes: those of the input, most of which the cache answers, instead of pixels x window.
#pragma once

#include "03_shared_memory/tiles/matrix.cuh"
#include "03_shared_memory/tiles/offset_copies.cuh"
#include "cuda/fast_divmod.cuh"
#include "network/problems.hpp"

namespace stagewise::shared_memory {

//! [windows]
/// Where in the input the values of windows are.
struct Windows {
  explicit Windows(const ConvolutionProblem& p)
      : pixels(static_cast<int>(p.output_pixels())),
        window(static_cast<int>(p.window())),
        height_(static_cast<int>(p.height)),
        width_(static_cast<int>(p.width)),
        in_(static_cast<int>(p.in)),
        by_output_height_(static_cast<int>(p.output_height())),
        by_output_width_(static_cast<int>(p.output_width())),
        by_filter_width_(static_cast<int>(p.filter_width)),
        by_in_(in_) {}

  /// Where the first value of a pixel's window is.
  __device__ int first_seen(int pixel) const {
    const auto [row, x] = by_output_width_.divide(pixel);
    const auto [image, y] = by_output_height_.divide(row);
    return ((image * height_ + y) * width_ + x) * in_;
  }

  /// How far from there value number `step` is.
  __device__ int from_first(int step) const {
    const auto [position, channel] = by_in_.divide(step);
    const auto [i, j] = by_filter_width_.divide(position);
    return (i * width_ + j) * in_ + channel;
  }

  int pixels;
  int window;

 private:
  int height_;
  int width_;
  int in_;
  cuda::FastDivmod by_output_height_;
  cuda::FastDivmod by_output_width_;
  cuda::FastDivmod by_filter_width_;
  cuda::FastDivmod by_in_;
};
//! [windows]

/// op(A) of the forward product: a row is an output pixel, a step a value of its window. See
/// offset_copies.cuh for the functions.
/// @tparam length_ how many channels can be copied at once.
template <typename T, int length_>
struct WindowRows {
  using Scalar = T;
  static constexpr bool k_major = true;  ///< channels are neighbours in memory, and so are steps
  static constexpr bool is_transposed = false;
  static constexpr int length = length_;
  template <int extent, int BK, int threads>
  using Copies = OffsetCopies<WindowRows, extent, BK, threads>;

  const T* data;
  Windows windows;

  /// Where a pixel's first value is. Past the last pixel, others stand in.
  __device__ Offset row(int i) const { return {windows.first_seen(row_inside(i, windows.pixels))}; }

  /// How far from there the value of a step is.
  __device__ Offset step(int k) const { return {windows.from_first(k)}; }
};

/// The windows transposed, as op(A) of the filter's gradient: a row is a value of the window, a
/// step an output pixel.
template <typename T, int length_>
struct WindowColumns {
  using Scalar = T;
  static constexpr bool k_major = false;  ///< channels are neighbours in memory, and so are rows
  static constexpr bool is_transposed = false;
  static constexpr int length = length_;
  template <int extent, int BK, int threads>
  using Copies = OffsetCopies<WindowColumns, extent, BK, threads>;

  const T* data;
  Windows windows;

  /// Where a row's value of the first pixel is. Past the last row, others stand in.
  __device__ Offset row(int i) const { return {windows.from_first(row_inside(i, windows.window))}; }

  /// How far from there that of another pixel is. Past the last pixel, the first stands in.
  __device__ Offset step(int k) const { return {k < windows.pixels ? windows.first_seen(k) : 0}; }
};

}  // namespace stagewise::shared_memory
