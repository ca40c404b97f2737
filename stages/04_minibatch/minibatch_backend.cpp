#include "04_minibatch/minibatch_backend.hpp"

#include <array>
#include <iterator>

#include "04_minibatch/convolution.hpp"
#include "04_minibatch/linear.hpp"
#include "cuda/range.hpp"

namespace stagewise {
namespace {

/// A vector of 16 bytes.
template <typename T>
constexpr std::array<T, 16 / sizeof(T)> one_and_zeros = {1};

template <typename T>
bool is_fusible(const LinearProblem<T>& layer) {
  const bool is_empty = layer.rows == 0 || layer.in == 0 || layer.out == 0;
  return !is_empty && minibatch::fits_linear(layer.rows, layer.in, layer.out);
}

}  // namespace

template <typename T>
MinibatchBackend<T>::MinibatchBackend(bool fuses)
    : fuses_(fuses),
      one_(this->template allocate<T>({std::ssize(one_and_zeros<T>)})),
      scores_(this->template allocate<minibatch::Score>({minibatch::most_scores()})) {
  this->copy_in(one_.data(), one_and_zeros<T>.data(), sizeof(one_and_zeros<T>));
}

//! [linear]
template <typename T>
void MinibatchBackend<T>::linear(const LinearProblem<T>& layer) {
  if (!fuses_ || !is_fusible(layer)) return SharedMemoryBackend<T>::linear(layer);
  const cuda::Range range("linear (fused)");
  minibatch::linear(this->stream(), layer, this->workspace());
}
//! [linear]

//! [linear_backward]
template <typename T>
void MinibatchBackend<T>::linear_backward(const LinearBackwardProblem<T>& layer) {
  if (!fuses_ || !is_fusible(layer.forward)) {
    return SharedMemoryBackend<T>::linear_backward(layer);
  }
  const cuda::Range range("linear_backward (fused)");
  this->activate_backward(layer);  // unless the layer above has done it
  LinearBackwardProblem<T> rest = layer;
  rest.forward.activation = Activation::none;
  if (layer.weight.gradient == nullptr) return SharedMemoryBackend<T>::linear_backward(rest);
  if (layer.dinput == nullptr) {  // the last one to do: there is nothing to do beside it
    minibatch::parameter_gradients(this->stream(), rest, one_.data(), this->workspace());
  } else {  // before an update changes the weights
    minibatch::input_gradient(this->stream(), rest, this->workspace());
    parameter_gradients(rest);
  }
}
//! [linear_backward]

//! [aside]
template <typename T>
cudaStream_t MinibatchBackend<T>::stream_aside() {
  if (!is_forked_) return this->stream();
  ready_.record(this->own_stream());
  ready_.make_wait(aside_);
  has_work_aside_ = true;
  return aside_.get();
}

template <typename T>
void MinibatchBackend<T>::parameter_gradients(const LinearBackwardProblem<T>& layer) {
  minibatch::parameter_gradients(stream_aside(), layer, one_.data(), workspace_aside_);
}

template <typename T>
void MinibatchBackend<T>::add_to_totals(minibatch::TotalsProblem totals, Index scores) {
  totals.scores = scores_.data();
  totals.count = scores;
  minibatch::add_to_totals(stream_aside(), totals);
}

template <typename T>
void MinibatchBackend<T>::join() {
  is_forked_ = false;
  if (!has_work_aside_) return;
  done_.record(aside_);
  done_.make_wait(this->own_stream());
  has_work_aside_ = false;
}
//! [aside]

template <typename T>
bool MinibatchBackend<T>::fuses_output_layer(const minibatch::OutputLayerProblem<T>& p) const {
  const LinearProblem<T>& layer = p.layer.forward;
  return fuses_ && is_fusible(layer) && minibatch::fits_output_layer<T>(layer.in, layer.out) &&
         layer.selection.order == nullptr;
}

//! [output_layer]
template <typename T>
void MinibatchBackend<T>::output_layer(const minibatch::OutputLayerProblem<T>& problem,
                                       const minibatch::TotalsProblem& totals) {
  const cuda::Range range("output_layer (fused)");
  const Index scores = minibatch::output_layer(this->stream(), problem, scores_.data());
  parameter_gradients(problem.layer);
  add_to_totals(totals, scores);
}
//! [output_layer]

template <typename T>
void MinibatchBackend<T>::loss(const minibatch::LossProblem<T>& problem,
                               const minibatch::TotalsProblem& totals) {
  const cuda::Range range("loss (fused)");
  add_to_totals(totals, minibatch::loss(this->stream(), problem, scores_.data()));
}

template <typename T>
bool MinibatchBackend<T>::fuses_pooling(const ConvolutionReluPoolProblem<T>& layer) const {
  return fuses_ && minibatch::can_fuse_pooling(layer);
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
