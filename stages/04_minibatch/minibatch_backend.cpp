#include "04_minibatch/minibatch_backend.hpp"

#include "04_minibatch/convolution.hpp"
#include "cuda/range.hpp"

namespace stagewise {

template <typename T>
bool MinibatchBackend<T>::fuses_pooling(const ConvolutionReluPoolProblem<T>& layer) const {
  return minibatch::can_fuse_pooling(layer);
}

template <typename T>
void MinibatchBackend<T>::convolution_relu_pool(const ConvolutionReluPoolProblem<T>& layer) {
  if (!fuses_pooling(layer)) return Backend<T>::convolution_relu_pool(layer);
  const cuda::Range range("convolution_relu_pool");
  minibatch::convolution_relu_pool(this->stream(), layer, this->workspace());
}

template <typename T>
void MinibatchBackend<T>::convolution_relu_pool_backward(
    const ConvolutionReluPoolBackwardProblem<T>& layer) {
  const ConvolutionReluPoolProblem<T>& forward = layer.forward;
  if (!fuses_pooling(forward)) return Backend<T>::convolution_relu_pool_backward(layer);
  const cuda::Range range("convolution_relu_pool_backward");
  minibatch::pool_relu_backward(this->stream(), layer, this->workspace());
  this->convolution_backward(forward.convolution, forward.input, forward.filter, layer.dactivated,
                             layer.dinput, layer.dfilter);
}

template class MinibatchBackend<float>;
template class MinibatchBackend<double>;

}  // namespace stagewise
