#include "graph/operations.hpp"

#include <string>

#include "tensor/error.hpp"

namespace stagewise {
namespace {

void expect_input(const std::string& node, const Shape& found, const Shape& expected) {
  if (found == expected) return;
  throw Error("'" + node + "' takes samples of shape " + expected.to_string() +
              ", but its input has shape " + found.to_string());
}

void expect_bias(const std::string& node, const Shape& found, const Shape& expected) {
  if (found == expected) return;
  throw Error("'" + node + "' takes a bias of shape " + expected.to_string() +
              ", but it has shape " + found.to_string());
}

/// Checks that a weight is a matrix that the input can be multiplied by.
void expect_weight(const std::string& node, const Shape& input, const Shape& weight) {
  if (weight.rank() != 2) {
    throw Error("'" + node + "' takes a weight of two dimensions, but it has shape " +
                weight.to_string());
  }
  expect_input(node, input, Shape{weight[0]});
}

template <typename T>
std::vector<Node<T>*> with_optional_bias(Node<T>& input, Parameter<T>& weight, Parameter<T>* bias) {
  if (bias == nullptr) return {&input, &weight};
  return {&input, &weight, bias};
}

}  // namespace

template <typename T>
void Parameter<T>::share_value(Parameter& owner) {
  this->value_ = Tensor<T>();
  owner_ = &owner;
}

template <typename T>
Linear<T>::Linear(std::string name, Node<T>& input, Parameter<T>& weight, Parameter<T>* bias,
                  Activation activation)
    : Node<T>(std::move(name), Shape{weight.sample_shape()[1]},
              with_optional_bias(input, weight, bias)),
      has_bias_(bias != nullptr),
      activation_(activation) {
  expect_weight(this->name(), input.sample_shape(), weight.sample_shape());
  if (bias != nullptr) expect_bias(this->name(), bias->sample_shape(), this->sample_shape());
}

template <typename T>
LinearProblem<T> Linear<T>::problem(Index rows) {
  const auto& inputs = this->inputs();
  return {.rows = rows,
          .in = inputs[0]->sample_shape()[0],
          .out = this->sample_shape()[0],
          .input = inputs[0]->value(),
          .selection = inputs[0]->selection(),
          .weight = inputs[1]->value(),
          .bias = has_bias_ ? inputs[2]->value() : nullptr,
          .activation = activation_,
          .output = this->value()};
}

template <typename T>
void Linear<T>::allocate(Backend<T>& backend, Index max_rows, bool with_gradients) {
  Node<T>::allocate(backend, max_rows, with_gradients);
  backend.prepare(problem(max_rows), with_gradients);
}

template <typename T>
void Linear<T>::forward(Backend<T>& backend, Index rows) {
  backend.linear(problem(rows));
}

template <typename T>
LinearBackwardProblem<T> Linear<T>::backward_problem(Index rows) {
  LinearProblem<T> forward = problem(rows);
  if (activation_is_done_above_) forward.activation = Activation::none;
  return {.forward = forward,
          .doutput = this->gradient(),
          .dinput = this->input_gradient(0),
          .input_activation = input_activation_,
          .weight = this->sink(1),
          .bias = has_bias_ ? this->sink(2) : GradientSink<T>()};
}

template <typename T>
void Linear<T>::backward(Backend<T>& backend, Index rows) {
  backend.linear_backward(backward_problem(rows));
}

template <typename T>
void Linear<T>::take_over_activation_of(Linear& below) {
  input_activation_ = below.activation_;
  below.leave_activation_to_reader();
}

template <typename T>
MatMul<T>::MatMul(std::string name, Node<T>& input, Parameter<T>& weight)
    : Node<T>(std::move(name), Shape{weight.sample_shape()[1]}, {&input, &weight}) {
  expect_weight(this->name(), input.sample_shape(), weight.sample_shape());
}

template <typename T>
void MatMul<T>::forward(Backend<T>& backend, Index rows) {
  const Shape& weight = this->inputs()[1]->sample_shape();
  backend.gemm({.m = rows,
                .n = weight[1],
                .k = weight[0],
                .a = this->inputs()[0]->value(),
                .b = this->inputs()[1]->value(),
                .c = this->value()});
}

template <typename T>
void MatMul<T>::backward(Backend<T>& backend, Index rows) {
  const Shape& weight = this->inputs()[1]->sample_shape();
  if (T* const dinput = this->input_gradient(0)) {  // dX = dY W^T
    backend.gemm({.op_b = Transpose::yes,
                  .m = rows,
                  .n = weight[0],
                  .k = weight[1],
                  .a = this->gradient(),
                  .b = this->inputs()[1]->value(),
                  .c = dinput});
  }
  backend.gemm({.op_a = Transpose::yes,  // dW = X^T dY
                .m = weight[0],
                .n = weight[1],
                .k = rows,
                .a = this->inputs()[0]->value(),
                .b = this->gradient(),
                .c = this->input_gradient(1)});
}

template <typename T>
AddBias<T>::AddBias(std::string name, Node<T>& input, Parameter<T>& bias)
    : Node<T>(std::move(name), input.sample_shape(), {&input, &bias}) {
  const Shape& shape = input.sample_shape();
  expect_bias(this->name(), bias.sample_shape(), Shape{shape[shape.rank() - 1]});
}

template <typename T>
T* AddBias<T>::gradient() {
  T* const shared = this->input_gradient(0);
  return shared != nullptr ? shared : Node<T>::gradient();
}

template <typename T>
void AddBias<T>::forward(Backend<T>& backend, Index rows) {
  const Index cols = this->inputs()[1]->sample_shape()[0];
  backend.add_bias(rows * this->sample_shape().elements() / cols, cols, this->inputs()[0]->value(),
                   this->inputs()[1]->value(), this->value());
}

template <typename T>
void AddBias<T>::backward(Backend<T>& backend, Index rows) {
  const Index cols = this->inputs()[1]->sample_shape()[0];
  backend.sum_rows(rows * this->sample_shape().elements() / cols, cols, this->gradient(),
                   this->input_gradient(1));
}

template <typename T>
void ReLU<T>::forward(Backend<T>& backend, Index rows) {
  backend.relu(rows * this->sample_shape().elements(), this->inputs()[0]->value(), this->value());
}

template <typename T>
void ReLU<T>::backward(Backend<T>& backend, Index rows) {
  backend.relu_backward(rows * this->sample_shape().elements(), this->value(), this->gradient(),
                        this->input_gradient(0));
}

template <typename T>
void Sigmoid<T>::forward(Backend<T>& backend, Index rows) {
  backend.sigmoid(rows * this->sample_shape().elements(), this->inputs()[0]->value(),
                  this->value());
}

template <typename T>
void Sigmoid<T>::backward(Backend<T>& backend, Index rows) {
  backend.sigmoid_backward(rows * this->sample_shape().elements(), this->value(), this->gradient(),
                           this->input_gradient(0));
}

namespace {

/// The convolution of a sample with a filter, for a batch of none yet.
ConvolutionProblem convolution_of(const std::string& node, const Shape& image,
                                  const Shape& filter) {
  if (image.rank() != 3 || filter.rank() != 4 || image[2] != filter[2]) {
    throw UsageError("'" + node + "' convolves images with filters of as many channels, but got " +
                     image.to_string() + " and " + filter.to_string());
  }
  if (image[0] < filter[0] || image[1] < filter[1]) {
    throw UsageError("the images are too small for this network: '" + node + "' has filters of " +
                     std::to_string(filter[0]) + "x" + std::to_string(filter[1]) +
                     " pixels, but gets images of " + std::to_string(image[0]) + "x" +
                     std::to_string(image[1]));
  }
  return {.height = image[0],
          .width = image[1],
          .in = image[2],
          .filter_height = filter[0],
          .filter_width = filter[1],
          .out = filter[3]};
}

Shape output_shape(const ConvolutionProblem& p) {
  return {p.output_height(), p.output_width(), p.out};
}

Shape pooled_shape(const std::string& node, const Shape& image, Index window) {
  if (window < 1 || image[0] % window != 0 || image[1] % window != 0) {
    throw UsageError("the images do not fit this network: '" + node + "' pools windows of " +
                     std::to_string(window) + "x" + std::to_string(window) +
                     " pixels, which do not divide " + std::to_string(image[0]) + "x" +
                     std::to_string(image[1]));
  }
  return {image[0] / window, image[1] / window, image[2]};
}

}  // namespace

template <typename T>
Convolution<T>::Convolution(std::string name, Node<T>& input, Parameter<T>& filter)
    : Node<T>(name, output_shape(convolution_of(name, input.sample_shape(), filter.sample_shape())),
              {&input, &filter}),
      problem_(convolution_of(name, input.sample_shape(), filter.sample_shape())) {}

template <typename T>
void Convolution<T>::allocate(Backend<T>& backend, Index max_rows, bool with_gradients) {
  Node<T>::allocate(backend, max_rows, with_gradients);
  problem_.batch = max_rows;
  backend.prepare(problem_, with_gradients);
}

template <typename T>
void Convolution<T>::forward(Backend<T>& backend, Index rows) {
  problem_.batch = rows;
  backend.convolution(problem_, this->inputs()[0]->value(), this->inputs()[1]->value(),
                      this->value());
}

template <typename T>
void Convolution<T>::backward(Backend<T>& backend, Index rows) {
  problem_.batch = rows;
  backend.convolution_backward(problem_, this->inputs()[0]->value(), this->inputs()[1]->value(),
                               this->gradient(), this->input_gradient(0), this->input_gradient(1));
}

template <typename T>
AveragePool<T>::AveragePool(std::string name, Node<T>& input, Index window)
    : Node<T>(name, pooled_shape(name, input.sample_shape(), window), {&input}),
      problem_{.height = input.sample_shape()[0],
               .width = input.sample_shape()[1],
               .channels = input.sample_shape()[2],
               .window = window} {}

template <typename T>
void AveragePool<T>::forward(Backend<T>& backend, Index rows) {
  problem_.batch = rows;
  backend.average_pool(problem_, this->inputs()[0]->value(), this->value());
}

template <typename T>
void AveragePool<T>::backward(Backend<T>& backend, Index rows) {
  problem_.batch = rows;
  backend.average_pool_backward(problem_, this->gradient(), this->input_gradient(0));
}

template <typename T>
ConvolutionReluPool<T>::ConvolutionReluPool(std::string name, Node<T>& input, Parameter<T>& filter,
                                            Parameter<T>* bias, Index window)
    : Node<T>(
          name,
          pooled_shape(
              name, output_shape(convolution_of(name, input.sample_shape(), filter.sample_shape())),
              window),
          with_optional_bias(input, filter, bias)),
      has_bias_(bias != nullptr),
      window_(window),
      convolution_(convolution_of(name, input.sample_shape(), filter.sample_shape())) {
  if (bias != nullptr) expect_bias(name, bias->sample_shape(), Shape{convolution_.out});
}

template <typename T>
void ConvolutionReluPool<T>::allocate(Backend<T>& backend, Index max_rows, bool with_gradients) {
  Node<T>::allocate(backend, max_rows, with_gradients);
  const Shape shape = output_shape(convolution_).batched(max_rows);
  if (with_gradients || !backend.fuses_pooling(problem(max_rows))) {
    activated_ = backend.template allocate<T>(shape);
  }
  if (with_gradients) activated_gradient_ = backend.template allocate<T>(shape);
  backend.prepare(problem(max_rows).convolution, with_gradients);
}

template <typename T>
ConvolutionReluPoolProblem<T> ConvolutionReluPool<T>::problem(Index rows) {
  convolution_.batch = rows;
  return {.convolution = convolution_,
          .window = window_,
          .input = this->inputs()[0]->value(),
          .filter = this->inputs()[1]->value(),
          .bias = has_bias_ ? this->inputs()[2]->value() : nullptr,
          .activated = activated_.data(),
          .output = this->value()};
}

template <typename T>
void ConvolutionReluPool<T>::forward(Backend<T>& backend, Index rows) {
  backend.convolution_relu_pool(problem(rows));
}

template <typename T>
void ConvolutionReluPool<T>::backward(Backend<T>& backend, Index rows) {
  backend.convolution_relu_pool_backward({.forward = problem(rows),
                                          .doutput = this->gradient(),
                                          .dactivated = activated_gradient_.data(),
                                          .dinput = this->input_gradient(0),
                                          .dfilter = this->input_gradient(1),
                                          .dbias = has_bias_ ? this->input_gradient(2) : nullptr});
}

template <typename T>
Loss<T>::Loss(std::string name, Node<T>& outputs, const Labels& labels)
    : Node<T>(std::move(name), Shape{}, {&outputs}), labels_(&labels) {
  expect_input(this->name(), outputs.sample_shape(), Shape{outputs.sample_shape().elements()});
}

template <typename T>
void SoftmaxCrossEntropy<T>::allocate(Backend<T>& backend, Index max_rows, bool with_gradients) {
  Node<T>::allocate(backend, max_rows, with_gradients);
  probabilities_ = backend.template allocate<T>({max_rows, this->classes()});
}

template <typename T>
void SoftmaxCrossEntropy<T>::forward(Backend<T>& backend, Index rows) {
  backend.softmax_cross_entropy(rows, this->classes(), this->inputs()[0]->value(), this->labels(),
                                probabilities_.data(), this->value());
}

template <typename T>
void SoftmaxCrossEntropy<T>::backward(Backend<T>& backend, Index rows) {
  backend.softmax_cross_entropy_backward(rows, this->classes(), probabilities_.data(),
                                         this->labels(), this->input_gradient(0));
}

template <typename T>
void SquaredError<T>::forward(Backend<T>& backend, Index rows) {
  backend.squared_error(rows, this->classes(), this->inputs()[0]->value(), this->labels(),
                        this->value());
}

template <typename T>
void SquaredError<T>::backward(Backend<T>& backend, Index rows) {
  backend.squared_error_backward(rows, this->classes(), this->inputs()[0]->value(), this->labels(),
                                 this->input_gradient(0));
}

template <typename T>
void Prediction<T>::allocate(Backend<T>& backend, Index max_rows, bool /*with_gradients*/) {
  predictions_ = backend.template allocate<std::int32_t>({max_rows});
}

template <typename T>
void ArgMax<T>::forward(Backend<T>& backend, Index rows) {
  backend.argmax(rows, this->inputs()[0]->sample_shape().elements(), this->inputs()[0]->value(),
                 this->predictions());
}

template <typename T>
Threshold<T>::Threshold(std::string name, Node<T>& output, T cut)
    : Prediction<T>(std::move(name), output), cut_(cut) {
  expect_input(this->name(), output.sample_shape(), Shape{1});
}

template <typename T>
void Threshold<T>::forward(Backend<T>& backend, Index rows) {
  backend.threshold(rows, cut_, this->inputs()[0]->value(), this->predictions());
}

template class Parameter<float>;
template class Parameter<double>;
template class Linear<float>;
template class Linear<double>;
template class MatMul<float>;
template class MatMul<double>;
template class AddBias<float>;
template class AddBias<double>;
template class ReLU<float>;
template class ReLU<double>;
template class Sigmoid<float>;
template class Sigmoid<double>;
template class Convolution<float>;
template class Convolution<double>;
template class AveragePool<float>;
template class AveragePool<double>;
template class ConvolutionReluPool<float>;
template class ConvolutionReluPool<double>;
template class Loss<float>;
template class Loss<double>;
template class SoftmaxCrossEntropy<float>;
template class SoftmaxCrossEntropy<double>;
template class SquaredError<float>;
template class SquaredError<double>;
template class Prediction<float>;
template class Prediction<double>;
template class ArgMax<float>;
template class ArgMax<double>;
template class Threshold<float>;
template class Threshold<double>;

}  // namespace stagewise
