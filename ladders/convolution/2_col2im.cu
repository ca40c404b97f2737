/// @file
/// The gradient of the im2col matrix added up to the gradient of the input: "columns to image".
///
/// Backward, the product gives a gradient for every place in every window, and an input value has
/// been seen in up to filter_height x filter_width of them. The loop of im2col would now
/// scatter: many threads would add to the same element, which takes atomic additions, and these
/// come in another order every time. Turned around, a thread takes one input value and gathers: it
/// asks which windows saw it, and where. No atomics, and the same bits in every run.
///
/// Run it: `ladder rungs train --model cnn --convolution im2col`.
/// Bytes: pixels x window x sizeof(T) read, neighbours by neighbours; the input's size written.

#include "cuda/check.hpp"
#include "cuda/fast_divmod.cuh"
#include "ladders/convolution/im2col.hpp"
#include "ladders/convolution/image_grid.cuh"

namespace stagewise::ladder {
namespace {

using cuda::FastDivmod;

//! [col2im]
template <typename T>
__global__ void col2im_kernel(ConvolutionProblem p, Index output_height, Index output_width, FastDivmod by_in,
                              const T* __restrict__ dcolumns, T* __restrict__ dinput) {
  const Index element = cuda::index_x();
  if (element >= p.width * p.in) return;
  const auto [x, c] = by_in.divide(static_cast<int>(element));
  for (Index b = blockIdx.z; b < p.batch; b += gridDim.z) {
    for (Index y = blockIdx.y; y < p.height; y += gridDim.y) {
      // This value was seen at place (i, j) of the window whose output is (y - i, x - j).
      T sum = 0;
      for (Index i = 0; i < p.filter_height; ++i) {
        if (y - i < 0 || y - i >= output_height) continue;
        for (Index j = 0; j < p.filter_width; ++j) {
          if (x - j < 0 || x - j >= output_width) continue;
          const Index pixel = (b * output_height + y - i) * output_width + x - j;
          sum += dcolumns[((pixel * p.filter_height + i) * p.filter_width + j) * p.in + c];
        }
      }
      dinput[(b * p.height + y) * p.width * p.in + element] = sum;
    }
  }
}
//! [col2im]

}  // namespace

template <typename T>
void col2im(cudaStream_t stream, const ConvolutionProblem& p, const T* dcolumns, T* dinput) {
  const Index row_elements = p.width * p.in;
  if (row_elements * p.height * p.batch == 0) return;
  col2im_kernel<<<grid_for_rows(p.batch, p.height, row_elements), cuda::threads_per_block, 0, stream>>>(
      p, p.output_height(), p.output_width(), FastDivmod(static_cast<int>(p.in)), dcolumns, dinput);
  CUDA_CHECK_LAUNCH("col2im");
}

template void col2im(cudaStream_t, const ConvolutionProblem&, const float*, float*);
template void col2im(cudaStream_t, const ConvolutionProblem&, const double*, double*);

}  // namespace stagewise::ladder
