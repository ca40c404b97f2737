/// @file
/// The gradients of a convolution, by the products of this stage; see convolution.cu.

#include "02_naive_cuda/kernels.hpp"
#include "03_shared_memory/convolution/products.cuh"
#include "03_shared_memory/kernels.hpp"

namespace stagewise::shared_memory {

template <typename T>
void convolution_backward(cudaStream_t stream, ConvolutionVariant variant,
                          const ConvolutionProblem& p, const T* input, const T* filter,
                          const T* doutput, T* dinput, T* dfilter, Workspace& workspace) {
  if (is_direct(variant, p)) {
    return naive_cuda::convolution_backward(stream, p, input, filter, doutput, dinput, dfilter);
  }
  filter_gradient<ConvolutionTiles<T>>(stream, p, input, doutput, dfilter, workspace);
  if (dinput == nullptr) return;
  input_gradient<ConvolutionTiles<T>>(stream, p, filter, doutput, dinput, workspace);
}

template void convolution_backward(cudaStream_t, ConvolutionVariant, const ConvolutionProblem&,
                                   const float*, const float*, const float*, float*, float*,
                                   Workspace&);
template void convolution_backward(cudaStream_t, ConvolutionVariant, const ConvolutionProblem&,
                                   const double*, const double*, const double*, double*, double*,
                                   Workspace&);

}  // namespace stagewise::shared_memory
