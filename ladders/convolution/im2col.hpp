/// @file
/// Convolution as a product of stored matrices: the windows of the input are written out as rows of
/// a matrix ("image to columns"), and the gradients of the matrix added up ("columns to image").
/// See ConvolutionProblem and 03_shared_memory/kernels.hpp for the shapes.
#pragma once

#include <cuda_runtime.h>

#include "03_shared_memory/kernels.hpp"
#include "network/problems.hpp"

namespace stagewise::ladder {

/// columns [pixels, window] = the windows of the input, a row for each output pixel ("im2col"). The
/// windows of a row of pixels have at most 2^31 - 1 elements.
template <typename T>
void im2col(cudaStream_t stream, const ConvolutionProblem& problem, const T* input, T* columns);

/// The reverse for gradients: each element of dinput is the sum of all places in dcolumns
/// [pixels, window] where it was seen ("col2im").
template <typename T>
void col2im(cudaStream_t stream, const ConvolutionProblem& problem, const T* dcolumns, T* dinput);

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

/// output = the convolution of input and filter.
/// @param columns room for at least one image.
/// @param rung multiplies; null: the one that suits.
template <typename T>
void convolution(cudaStream_t stream, const ConvolutionProblem& problem, const T* input, const T* filter, T* output,
                 const Im2colImages<T>& columns, Workspace& workspace,
                 const shared_memory::GemmRung<T>* rung = nullptr);

/// The gradients of convolution() with respect to its input and its filter.
/// @param dinput null where nobody needs it.
/// @param columns,rung see convolution().
template <typename T>
void convolution_backward(cudaStream_t stream, const ConvolutionProblem& problem, const T* input, const T* filter,
                          const T* doutput, T* dinput, T* dfilter, const Im2colImages<T>& columns, Workspace& workspace,
                          const shared_memory::GemmRung<T>* rung = nullptr);

}  // namespace stagewise::ladder
