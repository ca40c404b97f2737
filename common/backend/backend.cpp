#include "backend/backend.hpp"

#include <chrono>

namespace stagewise {

template <typename T>
double Backend<T>::measure(const std::function<void()>& work) {
  synchronize();
  const auto start = std::chrono::steady_clock::now();
  work();
  synchronize();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

//! [linear]
template <typename T>
void Backend<T>::linear(const LinearProblem<T>& layer) {
  gemm({.m = layer.rows,
        .n = layer.out,
        .k = layer.in,
        .a = layer.input,
        .b = layer.weight,
        .c = layer.output});
  if (layer.bias != nullptr) {
    add_bias(layer.rows, layer.out, layer.output, layer.bias, layer.output);
  }
  activate(layer);
}
//! [linear]

//! [linear_backward]
template <typename T>
void Backend<T>::linear_backward(const LinearBackwardProblem<T>& layer) {
  const LinearProblem<T>& forward = layer.forward;
  activate_backward(layer);
  if (layer.dinput != nullptr) {  // before an update at once could change the weights
    gemm({.op_b = Transpose::yes,
          .m = forward.rows,
          .n = forward.in,
          .k = forward.out,
          .a = layer.doutput,
          .b = forward.weight,
          .c = layer.dinput});
    const Index n = forward.rows * forward.in;
    activation_backward(layer.input_activation, n, forward.input, layer.dinput);
  }
  if (layer.weight.gradient != nullptr) {
    gemm({.op_a = Transpose::yes,
          .m = forward.in,
          .n = forward.out,
          .k = forward.rows,
          .a = forward.input,
          .b = layer.doutput,
          .c = layer.weight.gradient});
    deliver(forward.in * forward.out, layer.weight);
  }
  if (layer.bias.gradient != nullptr) {
    sum_rows(forward.rows, forward.out, layer.doutput, layer.bias.gradient);
    deliver(forward.out, layer.bias);
  }
}
//! [linear_backward]

template <typename T>
void Backend<T>::activate(const LinearProblem<T>& layer) {
  const Index n = layer.rows * layer.out;
  switch (layer.activation) {
    case Activation::none:
      break;
    case Activation::relu:
      relu(n, layer.output, layer.output);
      break;
    case Activation::sigmoid:
      sigmoid(n, layer.output, layer.output);
      break;
  }
}

template <typename T>
void Backend<T>::activate_backward(const LinearBackwardProblem<T>& layer) {
  const LinearProblem<T>& forward = layer.forward;
  activation_backward(forward.activation, forward.rows * forward.out, forward.output,
                      layer.doutput);
}

template <typename T>
void Backend<T>::activation_backward(Activation activation, Index n, const T* y, T* gradient) {
  switch (activation) {
    case Activation::none:
      break;
    case Activation::relu:
      relu_backward(n, y, gradient, gradient);
      break;
    case Activation::sigmoid:
      sigmoid_backward(n, y, gradient, gradient);
      break;
  }
}

template <typename T>
void Backend<T>::deliver(Index n, const GradientSink<T>& sink) {
  if (sink.parameter == nullptr) return;
  sgd_update(n, sink.learning_rate, sink.l2, sink.gradient, sink.parameter);
}

//! [convolution_relu_pool]
template <typename T>
void Backend<T>::convolution_relu_pool(const ConvolutionReluPoolProblem<T>& layer) {
  const ConvolutionProblem& p = layer.convolution;
  convolution(p, layer.input, layer.filter, layer.activated);
  if (layer.bias != nullptr) {
    add_bias(p.output_pixels(), p.out, layer.activated, layer.bias, layer.activated);
  }
  relu(p.output_pixels() * p.out, layer.activated, layer.activated);
  average_pool(layer.pooling(), layer.activated, layer.output);
}
//! [convolution_relu_pool]

//! [convolution_relu_pool_backward]
template <typename T>
void Backend<T>::convolution_relu_pool_backward(
    const ConvolutionReluPoolBackwardProblem<T>& layer) {
  const ConvolutionReluPoolProblem<T>& forward = layer.forward;
  const ConvolutionProblem& p = forward.convolution;
  const Index pixels = p.output_pixels();
  average_pool_backward(forward.pooling(), layer.doutput, layer.dactivated);
  relu_backward(pixels * p.out, forward.activated, layer.dactivated, layer.dactivated);
  if (layer.dbias != nullptr) sum_rows(pixels, p.out, layer.dactivated, layer.dbias);
  convolution_backward(p, forward.input, forward.filter, layer.dactivated, layer.dinput,
                       layer.dfilter);
}
//! [convolution_relu_pool_backward]

template class Backend<float>;
template class Backend<double>;

}  // namespace stagewise
