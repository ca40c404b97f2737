/// @file
/// The input of a convolution written out as a matrix, a window a row ("im2col").
///
/// Stage 02's threads each walk over a window and a filter of their own. As a matrix product, the
/// same multiplications are done by the GEMM of this stage, with everything it knows of tiles and
/// registers. The price is memory: an input pixel lies in up to filter_height x filter_width
/// windows, so the matrix is that many times as large as the input, and is written once and read
/// once.
///
/// A thread copies one element, and neighbours read and write neighbours. A GPU has no instruction
/// that divides integers, so little is divided: image and row come from the block's place in the
/// grid, and the rest takes two multiplications (fast_divmod.cuh).
///
/// Run it: `ladder rungs train --model cnn --convolution im2col`.
/// Bytes: pixels x window x sizeof(T), read and written.

#include "cuda/check.hpp"
#include "cuda/fast_divmod.cuh"
#include "ladders/convolution/im2col.hpp"
#include "ladders/convolution/image_grid.cuh"

namespace stagewise::ladder {
namespace {

using cuda::FastDivmod;

//! [im2col]
/// A block works on some windows of a row of the output; blockIdx says which row, and which image.
template <typename T>
__global__ void im2col_kernel(ConvolutionProblem p, Index output_height, Index row_elements, FastDivmod by_window,
                              FastDivmod by_window_row, const T* __restrict__ input, T* __restrict__ columns) {
  const Index element = cuda::index_x();
  if (element >= row_elements) return;
  const auto [x, place] = by_window.divide(static_cast<int>(element));
  const auto [i, offset] = by_window_row.divide(place);  // a window's row is one piece of the input
  for (Index b = blockIdx.z; b < p.batch; b += gridDim.z) {
    for (Index y = blockIdx.y; y < output_height; y += gridDim.y) {
      columns[(b * output_height + y) * row_elements + element] =
          input[((b * p.height + y + i) * p.width + x) * p.in + offset];
    }
  }
}
//! [im2col]

}  // namespace

template <typename T>
void im2col(cudaStream_t stream, const ConvolutionProblem& p, const T* input, T* columns) {
  const Index window_row = p.filter_width * p.in;
  const Index window = p.filter_height * window_row;
  const Index row_elements = p.output_width() * window;
  if (row_elements * p.output_height() * p.batch == 0) return;
  im2col_kernel<<<grid_for_rows(p.batch, p.output_height(), row_elements), cuda::threads_per_block, 0, stream>>>(
      p, p.output_height(), row_elements, FastDivmod(static_cast<int>(window)),
      FastDivmod(static_cast<int>(window_row)), input, columns);
  CUDA_CHECK_LAUNCH("im2col");
}

template void im2col(cudaStream_t, const ConvolutionProblem&, const float*, float*);
template void im2col(cudaStream_t, const ConvolutionProblem&, const double*, double*);

}  // namespace stagewise::ladder
