/// @file
/// The windows of a convolution in the order in which its output is pooled.
///
/// The rows of the product are output pixels, and a product does not mind in which order
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

#include "03_shared_memory/convolution/windows.cuh"

namespace stagewise::minibatch {

constexpr int pooling_window = 2;
constexpr int pooled_pixels = pooling_window * pooling_window;

using shared_memory::Offset;
using shared_memory::OffsetCopies;

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
/// op(A) of the forward product: a row is an output pixel, in the order above, a step a value of
/// its window. See tiles/offset_copies.cuh for the functions.
/// @tparam length_ how many channels can be copied at once.
template <typename T, int length_, int apart>
struct PooledWindows {
  using Scalar = T;
  static constexpr bool k_major = true;  ///< channels are neighbours in memory, and so are steps
  static constexpr bool is_transposed = false;
  static constexpr int length = length_;
  template <int extent, int BK, int threads>
  using Copies = OffsetCopies<PooledWindows, extent, BK, threads>;

  const T* data;
  shared_memory::Windows windows;
  PoolingOrder order;
  int count;  ///< of pooling windows

  PooledWindows(const ConvolutionProblem& p, const T* images)
      : data(images),
        windows(p),
        order(p.output_width()),
        count(static_cast<int>(p.output_pixels() / pooled_pixels)) {}

  /// Where a row's first value is. Past the last window, the first stands in.
  __device__ Offset row(int i) const {
    const PooledRow<apart> at(i);
    if (at.window >= count) return {0};
    return {windows.first_seen(order.pixel(at.window, at.pixel))};
  }

  /// How far from there the value of a step is.
  __device__ Offset step(int k) const { return {windows.from_first(k)}; }
};
//! [pooled_windows]

}  // namespace stagewise::minibatch
