/// @file
/// Which element of an image, or of a filter, a thread computes.
#pragma once

#include "cuda/launch.cuh"

namespace stagewise::naive_cuda {

//! [element]
/// An element of an array of four dimensions: of images, [batch, height, width, channels].
struct Element {
  Index b;
  Index y;
  Index x;
  Index c;
};

/// That with this number in memory, whose indices it gives, from the innermost dimension outward.
__device__ inline Element element_of(Index number, Index height, Index width, Index channels) {
  const Index c = number % channels;
  number /= channels;
  const Index x = number % width;
  number /= width;
  return {number / height, number % height, x, c};
}
//! [element]

}  // namespace stagewise::naive_cuda
