/// @file
/// The factors of the product that gives the gradient of a convolution's input.
///
/// A value of the input at (y, x) met weight (i, j) of the filter, a **tap**, in the output's pixel
/// (y - i, x - j). So its gradient is a product with taps x output channels as steps:
///
///     dinput [y, x, in] =
///         sum over i, j, out of  doutput [y - i, x - j, out] filter [i, j, in, out]
///
/// as far as there is such a pixel.
///
/// Near the edges of an image, most taps have no pixel: of the 25 taps of report 001's second
/// layer, a value has 11 on average. So the rows of the product are in the order (y, x, image): the
/// rows of a tile are the same pixel of many images, or few pixels, and the tile multiplies their
/// taps only. What some of few pixels lack is multiplied as zeros: a weight that is NaN makes
/// theirs NaN, too.
#pragma once

#include "03_shared_memory/tiles/matrix.cuh"
#include "03_shared_memory/tiles/offset_copies.cuh"
#include "cuda/fast_divmod.cuh"
#include "network/problems.hpp"

namespace stagewise::shared_memory {

/// A step: a tap of a range, and an output channel.
struct Tap {
  int i;
  int j;
  int channel;
};

//! [tap_range]
/// The taps that some pixels have: a rectangle of the filter.
struct TapRange {
  int top = 0;
  int left = 0;
  int rows = 0;
  int columns = 0;

  __device__ int count() const { return rows * columns; }

  /// The tap of a step, and its output channel.
  __device__ Tap tap(const cuda::FastDivmod& by_out, int step) const {
    const auto [number, channel] = by_out.divide(step);
    const int row = number / columns;
    return {top + row, left + number - row * columns, channel};
  }
};

/// Rows of the product, and the pixels of the input that they are.
struct PixelOrder {
  explicit PixelOrder(const ConvolutionProblem& p)
      : height(static_cast<int>(p.height)),
        width(static_cast<int>(p.width)),
        output_height(static_cast<int>(p.output_height())),
        output_width(static_cast<int>(p.output_width())),
        filter_height_(static_cast<int>(p.filter_height)),
        filter_width_(static_cast<int>(p.filter_width)),
        rows_(static_cast<int>(p.batch * p.height * p.width)),
        by_batch_(static_cast<int>(p.batch)),
        by_width_(width) {}

  struct Pixel {
    int image;
    int y;
    int x;
  };

  /// The pixel of a row. Past the last row, that of the last.
  __device__ Pixel pixel(int row) const {
    const auto [position, image] = by_batch_.divide(row < rows_ ? row : rows_ - 1);
    const auto [y, x] = by_width_.divide(position);
    return {image, y, x};
  }

  /// The taps of the pixels from row `first` to row `last`.
  __device__ TapRange taps(int first, int last) const {
    const Pixel begin = pixel(first);
    const Pixel end = pixel(last);
    const bool is_one_line = begin.y == end.y;
    const auto range = [](int from, int to, int outputs, int taps, int& least, int& count) {
      least = from - outputs + 1 > 0 ? from - outputs + 1 : 0;
      count = (to < taps ? to : taps - 1) - least + 1;
    };
    TapRange result;
    range(begin.y, end.y, output_height, filter_height_, result.top, result.rows);
    range(is_one_line ? begin.x : 0, is_one_line ? end.x : width - 1, output_width, filter_width_,
          result.left, result.columns);
    return result;
  }

  int height;
  int width;
  int output_height;
  int output_width;

 private:
  int filter_height_;
  int filter_width_;
  int rows_;
  cuda::FastDivmod by_batch_;
  cuda::FastDivmod by_width_;
};
//! [tap_range]

/// Where the output's pixel for tap (0, 0) would be, and how far from the edges it is.
struct TapRow {
  int elements;
  int y;
  int x;
  int height;
  int width;
};

/// How far back from there a tap goes.
struct TapStep {
  int elements;
  int i;
  int j;
};

/// Whether the output has the pixel of a tap.
__device__ inline bool is_inside(const TapRow& row, const TapStep& step) {
  return static_cast<unsigned>(row.y - step.i) < static_cast<unsigned>(row.height) &&
         static_cast<unsigned>(row.x - step.j) < static_cast<unsigned>(row.width);
}

/// op(A): a row is a pixel of the input, in the order of PixelOrder, a step a tap and a channel.
/// See offset_copies.cuh for the functions; choose_steps() is what tile_kernel() asks for where
/// each tile has steps of its own.
/// @tparam length_ how many channels can be copied at once.
template <typename T, int length_>
struct GradientTaps {
  using Scalar = T;
  static constexpr bool k_major = true;  ///< channels are neighbours in memory, and so are steps
  static constexpr bool is_transposed = false;
  static constexpr int length = length_;
  template <int extent, int BK, int threads>
  using Copies = OffsetCopies<GradientTaps, extent, BK, threads>;

  const T* data;
  int out;
  PixelOrder order;
  cuda::FastDivmod by_out;
  TapRange range = {};  ///< of a tile

  /// All taps that the pixels of a tile have.
  template <typename FilterTaps>
  __device__ int choose_steps(int first, int last, FilterTaps& filter) {
    range = order.taps(first, last);
    filter.range = range;
    return range.count() * out;
  }

  /// That of a pixel.
  __device__ TapRow row(int i) const {
    const auto [image, y, x] = order.pixel(i);
    const int height = order.output_height;
    const int width = order.output_width;
    return {((image * height + y) * width + x) * out, y, x, height, width};
  }

  /// How far back a tap goes.
  __device__ TapStep step(int k) const {
    const auto [i, j, channel] = range.tap(by_out, k);
    return {channel - (i * order.output_width + j) * out, i, j};
  }
};

/// op(B): a row is a channel of the input, a step as above.
/// @tparam is_transposed_ see SwizzledTile.
template <typename T, int length_, bool is_transposed_>
struct FilterTaps {
  using Scalar = T;
  static constexpr bool k_major = true;  ///< output channels are neighbours in memory
  static constexpr bool is_transposed = is_transposed_;
  static constexpr int length = length_;
  template <int extent, int BK, int threads>
  using Copies = OffsetCopies<FilterTaps, extent, BK, threads>;

  const T* data;
  int in;
  int out;
  int filter_width;
  cuda::FastDivmod by_out;
  TapRange range = {};  ///< of a tile

  /// Past the last channel, others stand in.
  __device__ Offset row(int i) const { return {row_inside(i, in) * out}; }

  /// Where a tap has its weights.
  __device__ Offset step(int k) const {
    const auto [i, j, channel] = range.tap(by_out, k);
    return {(i * filter_width + j) * in * out + channel};
  }
};

}  // namespace stagewise::shared_memory
