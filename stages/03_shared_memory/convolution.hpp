/// @file
/// Convolution as a matrix product. See ConvolutionProblem for the shapes.
///
/// Every output pixel sees a window of the input. Written as a row, the window is as long as a
/// filter, and all windows below each other make a matrix: "image to columns", im2col. Its
/// product with the filters is the convolution, since both are in the order (i, j, channel):
///
///     columns [pixels, window] x filter [window, out] = output [pixels, out]
///
/// with pixels = batch x output height x output width, window = filter height x width x in.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "03_shared_memory/gemm.hpp"
#include "network/problems.hpp"

namespace stagewise::shared_memory {

/// How a convolution is computed.
enum class ConvolutionVariant : std::uint8_t {
  automatic,  ///< by the rule of pick_convolution()
  direct,     ///< stage 02's kernels: a thread an element of what comes out
  im2col,     ///< the matrix is written to memory, and multiplied
  implicit    ///< multiplied, with the matrix only where the product loads it
};

/// Memory for the im2col matrix of some images. It holds a number of them at a time; larger batches
/// go through it piece by piece.
template <typename T>
struct Im2colImages {
  T* data = nullptr;
  Index images = 0;
};

/// The number of elements of one image's im2col matrix.
Index im2col_elements(const ConvolutionProblem& problem);

/// How many images of a batch go through im2col at a time, so that the memory for them stays
/// bounded.
template <typename T>
Index images_at_a_time(const ConvolutionProblem& problem);

/// The variant that is fastest for this size, of those that are not `automatic`.
ConvolutionVariant pick_convolution(const ConvolutionProblem& problem);

/// output = the convolution of input and filter.
/// @param columns room for at least one image; used by `im2col` only.
/// @param rung multiplies im2col matrices; null: the one that suits.
template <typename T>
void convolution(cudaStream_t stream, ConvolutionVariant variant, const ConvolutionProblem& problem,
                 const T* input, const T* filter, T* output, const Im2colImages<T>& columns,
                 Workspace& workspace, const GemmRung<T>* rung = nullptr);

/// The gradients of convolution() with respect to its input and its filter.
/// @param dinput null where nobody needs it.
/// @param columns room for at least one image; used by all variants but `direct`.
/// @param rung multiplies im2col matrices and their gradients; null: the one that suits.
template <typename T>
void convolution_backward(cudaStream_t stream, ConvolutionVariant variant,
                          const ConvolutionProblem& problem, const T* input, const T* filter,
                          const T* doutput, T* dinput, T* dfilter, const Im2colImages<T>& columns,
                          Workspace& workspace, const GemmRung<T>* rung = nullptr);

}  // namespace stagewise::shared_memory
