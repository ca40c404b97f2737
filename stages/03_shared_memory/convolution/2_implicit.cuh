/// @file
/// The im2col matrix without writing it: a loader for the GEMM's main loop.
///
/// Rung 1 writes a matrix only for the product to read it again. But the product asks for its
/// elements by row and step, and where an element of the im2col matrix lies in the input can be
/// worked out: the row is an output pixel, the step a place in its window, and their offsets into
/// the input simply add up. So the main loop loads the windows straight from the input, and the
/// im2col matrix exists only tile by tile, in shared memory.
///
/// To work it out takes divisions, which are done as multiplications (cuda::FastDivmod); those of
/// the row once for a tile, those of the step once for each element.
///
/// Run it: `stage03_shared_memory train --model cnn --convolution implicit`.
/// Bytes: those of the input, most of which the cache answers, instead of pixels x window.
#pragma once

#include "03_shared_memory/gemm/loader.cuh"
#include "cuda/fast_divmod.cuh"

namespace stagewise::shared_memory {

/// op(A) of the forward product: a place is an output pixel, a step a value of its window.
/// @tparam length_ of a group of channels that can be loaded at once.
template <typename T, int length_>
class WindowLoader {
 public:
  static constexpr int length = length_;

  WindowLoader(const ConvolutionProblem& p, const T* input)
      : input_(input),
        pixels_(static_cast<int>(p.output_pixels())),
        window_(static_cast<int>(p.window())),
        height_(static_cast<int>(p.height)),
        width_(static_cast<int>(p.width)),
        in_(static_cast<int>(p.in)),
        by_output_height_(static_cast<int>(p.output_height())),
        by_output_width_(static_cast<int>(p.output_width())),
        by_filter_width_(static_cast<int>(p.filter_width)),
        by_in_(static_cast<int>(p.in)) {}

  /// Channels are neighbours, and so are steps.
  static __device__ constexpr bool memory_runs_along() { return true; }

  //! [window_loader]
  /// The first value of a pixel's window.
  struct Row {
    const T* begin;
    int steps;  ///< 0 if there is no such pixel
  };

  /// Where a pixel's window begins.
  __device__ Row row(int pixel) const {
    return {input_ + first_seen(pixel), pixel < pixels_ ? window_ : 0};
  }

  /// Where its value of a step is.
  __device__ Element<T> at(const Row& row, int step) const {
    return {row.begin + from_first(step), step < row.steps};
  }

  /// Where in the input the first value of a pixel's window is.
  __device__ Index first_seen(int pixel) const {
    const auto [row, x] = by_output_width_.divide(pixel);
    const auto [image, y] = by_output_height_.divide(row);
    return ((static_cast<Index>(image) * height_ + y) * width_ + x) * in_;
  }
  /// How far from there the value of a step is.
  __device__ Index from_first(int step) const {
    const auto [place, channel] = by_in_.divide(step);
    const auto [i, j] = by_filter_width_.divide(place);
    return (static_cast<Index>(i) * width_ + j) * in_ + channel;
  }
  //! [window_loader]

  __device__ int pixels() const { return pixels_; }
  __device__ int window() const { return window_; }
  __device__ const T* input() const { return input_; }

 private:
  const T* input_;
  int pixels_;
  int window_;
  int height_;
  int width_;
  int in_;
  cuda::FastDivmod by_output_height_;
  cuda::FastDivmod by_output_width_;
  cuda::FastDivmod by_filter_width_;
  cuda::FastDivmod by_in_;
};

/// The same matrix transposed, for the gradient of the filter: a place is a value of the window, a
/// step an output pixel.
template <typename T, int length_>
class TransposedWindowLoader {
 public:
  static constexpr int length = length_;

  TransposedWindowLoader(const ConvolutionProblem& p, const T* input) : windows_(p, input) {}

  /// Channels are neighbours, and so are places.
  static __device__ constexpr bool memory_runs_along() { return false; }

  /// The first pixel's value at a place of the window.
  struct Row {
    const T* begin;
    int steps;
  };

  /// Where the first pixel has this value of its window.
  __device__ Row row(int place) const {
    return {windows_.input() + windows_.from_first(place),
            place < windows_.window() ? windows_.pixels() : 0};
  }

  /// Where a pixel has it.
  __device__ Element<T> at(const Row& row, int pixel) const {
    return {row.begin + windows_.first_seen(pixel), pixel < row.steps};
  }

 private:
  WindowLoader<T, length_> windows_;
};

}  // namespace stagewise::shared_memory
