/// @file
/// Convolution as a matrix product. See ConvolutionProblem for the shapes.
///
/// Every output pixel sees a window of the input. Written as a row, the window is as long as a
/// filter, and all windows below each other make a matrix. Its product with the filters is the
/// convolution, since both are in the order (i, j, channel):
///
///     windows [pixels, window] x filter [window, out] = output [pixels, out]
///
/// with pixels = batch x output height x output width, window = filter height x width x in.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "03_shared_memory/workspace.hpp"
#include "network/problems.hpp"

namespace stagewise::shared_memory {

/// How a convolution is computed.
enum class ConvolutionVariant : std::uint8_t {
  automatic,  ///< by the rule of pick_convolution()
  direct,     ///< stage 02's kernels: one thread per element of what comes out
  implicit    ///< multiplied, with the matrix of windows only where the product loads it
};

/// Whether the products can compute this convolution, with this batch and every smaller one that is
/// not empty: no size may be 0, and the elements of all operands must be countable in ints.
bool fits_windows(const ConvolutionProblem& convolution);

/// The variant that is fastest for this size, of those that are not `automatic`.
ConvolutionVariant pick_convolution(const ConvolutionProblem& problem);

/// Whether stage 02's kernels compute a problem: those that are asked for, or that have nothing to
/// compute or too much to count in ints.
bool is_direct(ConvolutionVariant variant, const ConvolutionProblem& problem);

/// output = the convolution of input and filter. What the products cannot compute, the direct
/// kernels do; see fits_windows().
template <typename T>
void convolution(cudaStream_t stream, ConvolutionVariant variant, const ConvolutionProblem& problem,
                 const T* input, const T* filter, T* output, Workspace& workspace);

/// The gradients of convolution() with respect to its input and its filter, likewise.
/// @param dinput null where nobody needs it.
template <typename T>
void convolution_backward(cudaStream_t stream, ConvolutionVariant variant,
                          const ConvolutionProblem& problem, const T* input, const T* filter,
                          const T* doutput, T* dinput, T* dfilter, Workspace& workspace);

}  // namespace stagewise::shared_memory
