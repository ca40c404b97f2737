/// @file
/// The operations that networks are built of. Each is a few lines that call the backend.
#pragma once

#include <cstdint>

#include "graph/node.hpp"

namespace stagewise {

/// Where data enters: the samples of a batch. The labels enter through a Labels object.
template <typename T>
class Placeholder final : public Node<T> {
 public:
  Placeholder(std::string name, const Shape& sample) : Node<T>(std::move(name), sample, {}) {}
  std::string operation() const override { return "placeholder"; }
  bool computes() const override { return false; }
  T* value() override { return data_ != nullptr ? data_ : Node<T>::value(); }
  Selection selection() override { return selection_; }

  /// Lets the batch be elsewhere in the backend's memory from now on, or, with a selection, be rows
  /// of what is there. Not owned.
  void use(T* data, const Selection& selection = {}) {
    data_ = data;
    selection_ = selection;
  }

  /// Takes back use(): the batch is in the node's own memory.
  void use_own() { use(nullptr); }

  void forward(Backend<T>& /*backend*/, Index /*rows*/) override {}
  void backward(Backend<T>& /*backend*/, Index /*rows*/) override {}

 private:
  T* data_ = nullptr;
  Selection selection_;
};

/// What kind of values a parameter holds, which decides how it starts and whether l2 applies.
enum class ParameterKind : std::uint8_t { weight, filter, bias };

/// What the network learns.
template <typename T>
class Parameter final : public Node<T> {
 public:
  /// @param name as in checkpoints: "fc1/weight".
  Parameter(std::string name, const Shape& shape, ParameterKind kind)
      : Node<T>(std::move(name), shape, {}), kind_(kind) {}
  std::string operation() const override { return "parameter"; }
  bool computes() const override { return false; }
  bool batched() const override { return false; }
  bool requires_gradient() const override { return true; }
  ParameterKind kind() const { return kind_; }

  /// Number of values.
  Index elements() const { return this->sample_shape().elements(); }

  T* value() override { return owner_ != nullptr ? owner_->value() : Node<T>::value(); }

  /// From now on the value is that of another graph's parameter, which outlives this one; the
  /// gradient stays its own.
  void share_value(Parameter& owner);

  void forward(Backend<T>& /*backend*/, Index /*rows*/) override {}
  void backward(Backend<T>& /*backend*/, Index /*rows*/) override {}

 private:
  ParameterKind kind_;
  Parameter* owner_ = nullptr;
};

/// The classes of the batch's samples, in the backend's memory. Not a node: nothing is
/// differentiated with respect to a label.
using Labels = Tensor<std::int32_t>;

/// activation(input weight + bias), as one operation that a stage may fuse.
template <typename T>
class Linear final : public Node<T> {
 public:
  /// @param input samples of shape [in].
  /// @param weight [in, out].
  /// @param bias [out]; null for none.
  Linear(std::string name, Node<T>& input, Parameter<T>& weight, Parameter<T>* bias,
         Activation activation);
  std::string operation() const override { return "linear"; }
  void forward(Backend<T>& backend, Index rows) override;
  void backward(Backend<T>& backend, Index rows) override;
  bool applies_updates() const override { return true; }

  /// What forward() asks the backend for: for steps that fuse more than a layer.
  LinearProblem<T> problem(Index rows);

  /// Likewise for backward().
  LinearBackwardProblem<T> backward_problem(Index rows);

  Activation activation() const { return activation_; }

  /// Lets this layer's backward() take its input's gradient through the activation of the layer
  /// `below`, whose output the input is and which nobody else reads.
  void take_over_activation_of(Linear& below);

  /// From now on, who computes the gradient of this layer's output takes it through the activation,
  /// too.
  void leave_activation_to_reader() { activation_is_done_above_ = true; }

 protected:
  void allocate(Backend<T>& backend, Index max_rows, bool with_gradients) override;

 private:
  bool has_bias_;
  Activation activation_;
  Activation input_activation_ = Activation::none;
  bool activation_is_done_above_ = false;
};

/// input weight: samples of shape [in], weight [in, out].
template <typename T>
class MatMul final : public Node<T> {
 public:
  MatMul(std::string name, Node<T>& input, Parameter<T>& weight);
  std::string operation() const override { return "matmul"; }
  void forward(Backend<T>& backend, Index rows) override;
  void backward(Backend<T>& backend, Index rows) override;
};

/// input + bias, for every sample: both of the same shape.
template <typename T>
class AddBias final : public Node<T> {
 public:
  AddBias(std::string name, Node<T>& input, Parameter<T>& bias);
  std::string operation() const override { return "add bias"; }

  /// The same as the input's: the addition passes it on, so both share the storage.
  T* gradient() override;
  void forward(Backend<T>& backend, Index rows) override;
  void backward(Backend<T>& backend, Index rows) override;
};

/// max(input, 0).
template <typename T>
class ReLU final : public Node<T> {
 public:
  ReLU(std::string name, Node<T>& input)
      : Node<T>(std::move(name), input.sample_shape(), {&input}) {}
  std::string operation() const override { return "relu"; }
  void forward(Backend<T>& backend, Index rows) override;
  void backward(Backend<T>& backend, Index rows) override;
};

/// 1 / (1 + exp(-input)).
template <typename T>
class Sigmoid final : public Node<T> {
 public:
  Sigmoid(std::string name, Node<T>& input)
      : Node<T>(std::move(name), input.sample_shape(), {&input}) {}
  std::string operation() const override { return "sigmoid"; }
  void forward(Backend<T>& backend, Index rows) override;
  void backward(Backend<T>& backend, Index rows) override;
};

/// A 'valid' convolution of stride 1: samples [height, width, in], filter [h, w, in, out].
template <typename T>
class Convolution final : public Node<T> {
 public:
  /// @throws UsageError if the filter is larger than the image.
  Convolution(std::string name, Node<T>& input, Parameter<T>& filter);
  std::string operation() const override { return "convolution"; }
  void forward(Backend<T>& backend, Index rows) override;
  void backward(Backend<T>& backend, Index rows) override;

 protected:
  void allocate(Backend<T>& backend, Index max_rows, bool with_gradients) override;

 private:
  ConvolutionProblem problem_;  ///< its batch set in every pass
};

/// The mean of every square window, windows side by side: samples [height, width, channels].
template <typename T>
class AveragePool final : public Node<T> {
 public:
  /// @throws UsageError unless the window divides height and width.
  AveragePool(std::string name, Node<T>& input, Index window);
  std::string operation() const override { return "average pool"; }
  void forward(Backend<T>& backend, Index rows) override;
  void backward(Backend<T>& backend, Index rows) override;

 private:
  PoolingProblem problem_;
};

/// average_pool(relu(convolution(input, filter) + bias)), as one operation that a stage may fuse.
template <typename T>
class ConvolutionReluPool final : public Node<T> {
 public:
  /// @param bias [out]; null for none.
  /// @throws UsageError if the filter is larger than the image, or the window does not divide what
  ///         the convolution leaves.
  ConvolutionReluPool(std::string name, Node<T>& input, Parameter<T>& filter, Parameter<T>* bias,
                      Index window);
  std::string operation() const override { return "convolution, relu, pool"; }
  void forward(Backend<T>& backend, Index rows) override;
  void backward(Backend<T>& backend, Index rows) override;

 protected:
  void allocate(Backend<T>& backend, Index max_rows, bool with_gradients) override;

 private:
  ConvolutionReluPoolProblem<T> problem(Index rows);

  bool has_bias_;
  Index window_;
  ConvolutionProblem convolution_;
  Tensor<T> activated_;  ///< empty where nobody needs it
  Tensor<T> activated_gradient_;
};

/// The same values as one row a sample. Row-major order makes this a matter of names: no copy.
template <typename T>
class Flatten final : public Node<T> {
 public:
  Flatten(std::string name, Node<T>& input)
      : Node<T>(std::move(name), Shape{input.sample_shape().elements()}, {&input}) {}
  std::string operation() const override { return "flatten"; }
  bool stores_value() const override { return false; }
  bool computes() const override { return false; }
  T* value() override { return this->inputs()[0]->value(); }
  T* gradient() override { return this->input_gradient(0); }
  Selection selection() override { return this->inputs()[0]->selection(); }
  void forward(Backend<T>& /*backend*/, Index /*rows*/) override {}
  void backward(Backend<T>& /*backend*/, Index /*rows*/) override {}

 protected:
  void allocate(Backend<T>& /*backend*/, Index /*max_rows*/, bool /*with_gradients*/) override {}
};

/// A loss: its value is one number a sample; what is minimized is their mean over the batch.
template <typename T>
class Loss : public Node<T> {
 public:
  bool is_loss() const override { return true; }

  /// Number of outputs of a sample.
  Index classes() const { return this->inputs()[0]->sample_shape()[0]; }

  /// A sample's loss grows no faster than this power of its outputs: 1 or 2.
  virtual int degree() const = 0;

 protected:
  Loss(std::string name, Node<T>& outputs, const Labels& labels);

  const std::int32_t* labels() const { return labels_->data(); }

 private:
  const Labels* labels_;
};

/// -log softmax(logits)[label].
template <typename T>
class SoftmaxCrossEntropy final : public Loss<T> {
 public:
  /// @param logits samples of shape [classes].
  /// @param labels outlives the node.
  SoftmaxCrossEntropy(std::string name, Node<T>& logits, const Labels& labels)
      : Loss<T>(std::move(name), logits, labels) {}
  std::string operation() const override { return "softmax cross-entropy"; }
  int degree() const override { return 1; }
  void forward(Backend<T>& backend, Index rows) override;
  void backward(Backend<T>& backend, Index rows) override;

 protected:
  void allocate(Backend<T>& backend, Index max_rows, bool with_gradients) override;

 private:
  Tensor<T> probabilities_;
};

/// The sum over the outputs of (target - output)^2; see Backend::squared_error() for the target.
template <typename T>
class SquaredError final : public Loss<T> {
 public:
  /// As for SoftmaxCrossEntropy.
  SquaredError(std::string name, Node<T>& outputs, const Labels& labels)
      : Loss<T>(std::move(name), outputs, labels) {}
  std::string operation() const override { return "squared error"; }
  int degree() const override { return 2; }
  void forward(Backend<T>& backend, Index rows) override;
  void backward(Backend<T>& backend, Index rows) override;
};

/// A prediction: the class that the outputs name. It has no value to differentiate.
template <typename T>
class Prediction : public Node<T> {
 public:
  bool requires_gradient() const override { return false; }
  bool stores_value() const override { return false; }
  void backward(Backend<T>& /*backend*/, Index /*rows*/) override {}

  /// The predicted classes, [rows], in the backend's memory.
  std::int32_t* predictions() { return predictions_.data(); }

 protected:
  Prediction(std::string name, Node<T>& outputs) : Node<T>(std::move(name), Shape{0}, {&outputs}) {}
  void allocate(Backend<T>& backend, Index max_rows, bool with_gradients) override;

 private:
  Tensor<std::int32_t> predictions_;
};

/// The output with the largest value.
template <typename T>
class ArgMax final : public Prediction<T> {
 public:
  ArgMax(std::string name, Node<T>& outputs) : Prediction<T>(std::move(name), outputs) {}
  std::string operation() const override { return "argmax"; }
  void forward(Backend<T>& backend, Index rows) override;
};

/// Class 1 where the only output is at least `cut`, class 0 elsewhere.
template <typename T>
class Threshold final : public Prediction<T> {
 public:
  /// @param output samples of shape [1].
  Threshold(std::string name, Node<T>& output, T cut);
  std::string operation() const override { return "threshold"; }
  void forward(Backend<T>& backend, Index rows) override;

  /// Where class 1 begins.
  T cut() const { return cut_; }

 private:
  T cut_;
};

}  // namespace stagewise
