#include "03_shared_memory/convolution.hpp"
#include "03_shared_memory/convolution/filter_gradient.cuh"

namespace stagewise::shared_memory {

template <typename T>
void filter_gradient(cudaStream_t stream, const ConvolutionProblem& p, const T* input,
                     const T* doutput, T* dfilter, Workspace& workspace) {
  filter_gradient_in<ConvolutionTiles<T>>(stream, p, input, doutput, dfilter, workspace);
}

template void filter_gradient(cudaStream_t, const ConvolutionProblem&, const float*, const float*,
                              float*, Workspace&);
template void filter_gradient(cudaStream_t, const ConvolutionProblem&, const double*, const double*,
                              double*, Workspace&);

}  // namespace stagewise::shared_memory
