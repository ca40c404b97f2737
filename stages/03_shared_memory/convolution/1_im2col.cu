/// @file
/// The input of a convolution written out as a matrix, a window a row ("im2col").
///
/// Stage 02's threads each walk over a window and a filter of their own. As a matrix product, the
/// same multiplications are done by the GEMM of this stage, with everything it knows of tiles and
/// registers. The price is memory: an input pixel lies in up to filter_height x filter_width
/// windows, so the matrix is that many times as large as the input, and is written once and read
/// once.
///
/// A thread copies one element. Its number, taken apart from the inside outwards, is the channel,
/// the place in the window, the pixel; neighbours read and write neighbours.
///
/// Run it: `stage03_shared_memory train --model cnn --convolution im2col`.
/// Bytes: pixels x window x sizeof(T), read and written.

#include "03_shared_memory/convolution/im2col.hpp"
#include "cuda/check.hpp"
#include "cuda/launch.cuh"

namespace stagewise::shared_memory {
namespace {

//! [im2col]
template <typename T>
__global__ void im2col_kernel(ConvolutionProblem p, Index output_height, Index output_width,
                              const T* input, T* columns) {
  const Index element = cuda::index_x();
  if (element >= p.batch * output_height * output_width * p.filter_height * p.filter_width * p.in) {
    return;
  }
  Index rest = element;
  const Index c = rest % p.in;
  rest /= p.in;
  const Index j = rest % p.filter_width;
  rest /= p.filter_width;
  const Index i = rest % p.filter_height;
  rest /= p.filter_height;
  const Index x = rest % output_width;
  rest /= output_width;
  const Index y = rest % output_height;
  const Index b = rest / output_height;
  columns[element] = input[((b * p.height + y + i) * p.width + x + j) * p.in + c];
}
//! [im2col]

}  // namespace

template <typename T>
void im2col(cudaStream_t stream, const ConvolutionProblem& p, const T* input, T* columns) {
  const Index n = p.output_pixels() * p.filter_height * p.filter_width * p.in;
  if (n == 0) return;
  im2col_kernel<<<cuda::grid_for(n), cuda::threads_per_block, 0, stream>>>(
      p, p.output_height(), p.output_width(), input, columns);
  CUDA_CHECK_LAUNCH("im2col");
}

template void im2col(cudaStream_t, const ConvolutionProblem&, const float*, float*);
template void im2col(cudaStream_t, const ConvolutionProblem&, const double*, double*);

}  // namespace stagewise::shared_memory
