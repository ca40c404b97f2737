/// @file
/// The rows of stage 03's implicit product in another order: what is pooled together stands
/// together.
///
/// Stage 03 multiplies output pixel by output pixel, row of the image by row. The four pixels of a
/// pooling window are then a row of the image apart, in different threads or even blocks, and their
/// mean has to wait until all have been written. But a product does not mind in which order its
/// rows are. Here, every four of them are one window:
///
///     image    0  1 | 4  5 |  8  9 | ...         rows 0 to 3 of the product: the first window
///              2  3 | 6  7 | 10 11 |             rows 4 to 7: the one to its right
///             ------+------+-------+             ...
///
/// The windows follow each other as the pixels of the pooled image do, so four rows of the product
/// are one row of the result.
///
/// Bytes: those of stage 03's loader. Operations: one more division for each row of a tile.
#pragma once

#include "03_shared_memory/convolution/2_implicit.cuh"

namespace stagewise::minibatch {

constexpr int pooling_window = 2;
constexpr int pooled_pixels = pooling_window * pooling_window;

//! [pooling_order]
/// Which output pixel of the convolution a row of the product is.
class PoolingOrder {
 public:
  /// @param width of the image that is pooled.
  explicit PoolingOrder(Index width)
      : width_(static_cast<int>(width)), by_pooled_width_(width_ / pooling_window) {}

  /// Its number: pixels are counted through all images, as the convolution's output has them.
  __device__ int pixel(int row) const {
    const auto [band, x] = by_pooled_width_.divide(row / pooled_pixels);  // a band of windows
    const int i = row % pooled_pixels / pooling_window;
    const int j = row % pooling_window;
    return (pooling_window * band + i) * width_ + pooling_window * x + j;
  }

 private:
  int width_;
  cuda::FastDivmod by_pooled_width_;
};
//! [pooling_order]

//! [pooled_windows]
/// op(A) of the product: a row is an output pixel in pooling order, a step a value of what the
/// filter sees there. The value is at input()[row(number) + from_first(step)], all in ints.
template <typename T>
class PooledWindows {
 public:
  PooledWindows(const ConvolutionProblem& p, const T* input)
      : windows_(p, input), order_(p.output_width()) {}

  /// Where a row begins. What rows past the last are, nobody looks at; they are where there is
  /// memory.
  __device__ int row(int number) const {
    if (number >= windows_.pixels()) return 0;
    return static_cast<int>(windows_.first_seen(order_.pixel(number)));
  }

  /// How far from there the value of a step is.
  __device__ int from_first(int step) const { return static_cast<int>(windows_.from_first(step)); }

  __device__ int steps() const { return windows_.window(); }
  __device__ const T* input() const { return windows_.input(); }

 private:
  shared_memory::WindowLoader<T, 1> windows_;
  PoolingOrder order_;
};
//! [pooled_windows]

}  // namespace stagewise::minibatch
