/// @file
/// Convolution: one thread per element of a result, and so three kernels, as there are three
/// results: the output, the filter's gradient and the input's gradient.
///
/// Stage 01 walks over the output once, and each product adds to the gradients of both factors.
/// Here, many threads would add to the same element at once. So each element of a gradient has a
/// thread, which gathers the products that the element contributed to ("gather, not scatter").
///
/// Channels are innermost, also in the thread's number: neighbouring threads read the same pixel
/// and neighbouring weights. The filter's gradient is the slow one: it has few elements, each a sum
/// over every pixel of the batch.

#include "02_naive_cuda/element.cuh"
#include "02_naive_cuda/kernels.hpp"
#include "cuda/check.hpp"

namespace stagewise::naive_cuda {
namespace {

//! [convolution]
template <typename T>
__global__ void convolution_kernel(ConvolutionProblem p, Index output_height, Index output_width,
                                   const T* __restrict__ input, const T* __restrict__ filter,
                                   T* __restrict__ output) {
  const Index number = cuda::index_x();
  if (number >= p.batch * output_height * output_width * p.out) return;
  const auto [b, y, x, o] = element_of(number, output_height, output_width, p.out);

  T sum = 0;
  for (Index i = 0; i < p.filter_height; ++i) {
    for (Index j = 0; j < p.filter_width; ++j) {
      const T* const values = input + ((b * p.height + y + i) * p.width + x + j) * p.in;
      const T* const weights = filter + (i * p.filter_width + j) * p.in * p.out + o;
      for (Index c = 0; c < p.in; ++c) sum += values[c] * weights[c * p.out];
    }
  }
  output[number] = sum;
}
//! [convolution]

//! [convolution_backward_filter]
template <typename T>
__global__ void filter_gradient_kernel(ConvolutionProblem p, Index output_height,
                                       Index output_width, const T* __restrict__ input,
                                       const T* __restrict__ doutput, T* __restrict__ dfilter) {
  const Index number = cuda::index_x();
  if (number >= p.filter_height * p.filter_width * p.in * p.out) return;
  const auto [i, j, c, o] = element_of(number, p.filter_width, p.in, p.out);

  // This weight multiplied the value at offset (i, j) from every output pixel.
  T sum = 0;
  for (Index b = 0; b < p.batch; ++b) {
    for (Index y = 0; y < output_height; ++y) {
      const T* const values = input + ((b * p.height + y + i) * p.width + j) * p.in + c;
      const T* const gradients = doutput + (b * output_height + y) * output_width * p.out + o;
      for (Index x = 0; x < output_width; ++x) sum += values[x * p.in] * gradients[x * p.out];
    }
  }
  dfilter[number] = sum;
}
//! [convolution_backward_filter]

//! [convolution_backward_input]
template <typename T>
__global__ void input_gradient_kernel(ConvolutionProblem p, Index output_height, Index output_width,
                                      const T* __restrict__ filter, const T* __restrict__ doutput,
                                      T* __restrict__ dinput) {
  const Index number = cuda::index_x();
  if (number >= p.batch * p.height * p.width * p.in) return;
  const auto [b, y, x, c] = element_of(number, p.height, p.width, p.in);

  // This value is at place (i, j) of the window of output (y - i, x - j).
  T sum = 0;
  for (Index i = 0; i < p.filter_height; ++i) {
    if (y - i < 0 || y - i >= output_height) continue;
    for (Index j = 0; j < p.filter_width; ++j) {
      if (x - j < 0 || x - j >= output_width) continue;
      const T* const weights = filter + ((i * p.filter_width + j) * p.in + c) * p.out;
      const T* const gradients =
          doutput + ((b * output_height + y - i) * output_width + x - j) * p.out;
      for (Index o = 0; o < p.out; ++o) sum += weights[o] * gradients[o];
    }
  }
  dinput[number] = sum;
}
//! [convolution_backward_input]

}  // namespace

template <typename T>
void convolution(cudaStream_t stream, const ConvolutionProblem& p, const T* input, const T* filter,
                 T* output) {
  const Index n = p.output_pixels() * p.out;
  convolution_kernel<<<cuda::grid_for(n), cuda::threads_per_block, 0, stream>>>(
      p, p.output_height(), p.output_width(), input, filter, output);
  CUDA_CHECK_LAUNCH("convolution");
}

template <typename T>
void convolution_backward(cudaStream_t stream, const ConvolutionProblem& p, const T* input,
                          const T* filter, const T* doutput, T* dinput, T* dfilter) {
  const Index weights = p.filter_height * p.filter_width * p.in * p.out;
  filter_gradient_kernel<<<cuda::grid_for(weights), cuda::threads_per_block, 0, stream>>>(
      p, p.output_height(), p.output_width(), input, doutput, dfilter);
  CUDA_CHECK_LAUNCH("convolution_backward (filter)");
  if (dinput == nullptr) return;
  const Index values = p.batch * p.height * p.width * p.in;
  input_gradient_kernel<<<cuda::grid_for(values), cuda::threads_per_block, 0, stream>>>(
      p, p.output_height(), p.output_width(), filter, doutput, dinput);
  CUDA_CHECK_LAUNCH("convolution_backward (input)");
}

template void convolution(cudaStream_t, const ConvolutionProblem&, const float*, const float*,
                          float*);
template void convolution(cudaStream_t, const ConvolutionProblem&, const double*, const double*,
                          double*);
template void convolution_backward(cudaStream_t, const ConvolutionProblem&, const float*,
                                   const float*, const float*, float*, float*);
template void convolution_backward(cudaStream_t, const ConvolutionProblem&, const double*,
                                   const double*, const double*, double*, double*);

}  // namespace stagewise::naive_cuda
