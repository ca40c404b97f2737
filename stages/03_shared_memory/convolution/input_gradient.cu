#include "03_shared_memory/convolution.hpp"
#include "03_shared_memory/convolution/input_gradient.cuh"

namespace stagewise::shared_memory {

template <typename T>
void input_gradient(cudaStream_t stream, const ConvolutionProblem& p, const T* filter,
                    const T* doutput, T* dinput, Workspace& workspace) {
  input_gradient_in<ConvolutionTiles<T>>(stream, p, filter, doutput, dinput, workspace);
}

template void input_gradient(cudaStream_t, const ConvolutionProblem&, const float*, const float*,
                             float*, Workspace&);
template void input_gradient(cudaStream_t, const ConvolutionProblem&, const double*, const double*,
                             double*, Workspace&);

}  // namespace stagewise::shared_memory
