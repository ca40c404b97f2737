/// @file
/// What a convolution multiplies: windows of the input, whose values are where they are.
///
/// Stage 03's implicit product (convolution/2_implicit.cuh) asks for each element anew where it is.
/// These are factors of the GEMM in fitted tiles, like those of linear/batch_matrices.cuh: the
/// offsets of rows are worked out once for a tile, those of steps once for a k tile
/// (offset_copies.cuh).
///
/// Forward, the rows of the product are output pixels, and a product does not mind in which order
/// its rows are. Stage 03 has them row of the image by row, so that the four pixels of a pooling
/// window are in different threads or even blocks, and their mean has to wait until all have been
/// written. Here, each window's four pixels are rows of the same thread. A thread's rows are 1 or 8
/// apart, as the unit that multiplies has them; with 8, windows 0 to 7 are
///
///     rows  0 to  7    their upper left pixels
///     rows  8 to 15    their upper right pixels
///     rows 16 to 23    their lower left pixels
///     rows 24 to 31    their lower right pixels
///
/// and the next 32 rows are windows 8 to 15.
#pragma once

#include "03_shared_memory/convolution/2_implicit.cuh"
#include "04_minibatch/convolution/offset_copies.cuh"

namespace stagewise::minibatch {

constexpr int pooling_window = 2;
constexpr int pooled_pixels = pooling_window * pooling_window;

//! [pooling_order]
/// Where the pixels of a pooling window are.
class PoolingOrder {
 public:
  /// @param width of the image that is pooled.
  explicit PoolingOrder(Index width)
      : width_(static_cast<int>(width)), by_pooled_width_(width_ / pooling_window) {}

  /// The number of pixel `i` of a window: pixels are counted through all images, as the
  /// convolution's output has them, and windows likewise.
  __device__ int pixel(int window, int i) const {
    const auto [band, x] = by_pooled_width_.divide(window);  // a band of windows
    return (pooling_window * band + i / pooling_window) * width_ + pooling_window * x +
           i % pooling_window;
  }

 private:
  int width_;
  cuda::FastDivmod by_pooled_width_;
};

/// The window to which a row of the product belongs, and which of its pixels the row is.
template <int apart>
struct PooledRow {
  int window;
  int pixel;

  __device__ explicit PooledRow(int row)
      : window(row / (pooled_pixels * apart) * apart + row % apart),
        pixel(row / apart % pooled_pixels) {}
};
//! [pooling_order]

/// Rows of the product that `windows` windows take.
inline Index pooled_rows(Index windows, int apart) {
  return (windows + apart - 1) / apart * apart * pooled_pixels;
}

//! [pooled_windows]
/// op(A) of the forward product: a place is an output pixel, in the order above, a step a value of
/// what the filter sees there. See offset_copies.cuh for the functions.
/// @tparam length_ how many channels can be copied at once.
template <typename T, int length_, int apart>
struct PooledWindows {
  static constexpr bool along = true;  ///< channels are neighbours in memory, and so are steps
  static constexpr bool is_turned = false;
  static constexpr int length = length_;

  shared_memory::WindowLoader<T, 1> windows;
  PoolingOrder order;
  int count;  ///< of pooling windows

  PooledWindows(const ConvolutionProblem& p, const T* input)
      : windows(p, input),
        order(p.output_width()),
        count(static_cast<int>(p.output_pixels() / pooled_pixels)) {}

  __device__ const T* data() const { return windows.input(); }

  /// Where a row's first value is. Past the last window, the first stands in.
  __device__ Offset row(int place) const {
    const PooledRow<apart> at(place);
    if (at.window >= count) return {0};
    return {static_cast<int>(windows.first_seen(order.pixel(at.window, at.pixel)))};
  }

  /// How far from there the value of a step is.
  __device__ Offset step(int number) const {
    return {static_cast<int>(windows.from_first(number))};
  }
};
//! [pooled_windows]

//! [window_columns]
/// The windows transposed, as op(A) of the filter's gradient: a place is a value of the window, a
/// step an output pixel, row of the image by row.
template <typename T, int length_>
struct WindowColumns {
  static constexpr bool along = false;  ///< channels are neighbours in memory, and so are places
  static constexpr bool is_turned = false;
  static constexpr int length = length_;

  shared_memory::WindowLoader<T, 1> windows;

  WindowColumns(const ConvolutionProblem& p, const T* input) : windows(p, input) {}

  __device__ const T* data() const { return windows.input(); }

  /// Where a place's value of the first pixel is. Past the last place, others stand in.
  __device__ Offset row(int place) const {
    const int inside = shared_memory::place_inside(place, windows.window());
    return {static_cast<int>(windows.from_first(inside))};
  }

  /// How far from there that of another pixel is. Past the last pixel, the first stands in.
  __device__ Offset step(int number) const {
    return {number < windows.pixels() ? static_cast<int>(windows.first_seen(number)) : 0};
  }
};
//! [window_columns]

}  // namespace stagewise::minibatch
