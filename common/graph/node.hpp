/// @file
/// What all operations of the network have in common.
#pragma once

#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "tensor/tensor.hpp"

namespace stagewise {

template <typename T>
class Graph;

/// One operation of the network, with room for its result and for the loss's gradient with respect
/// to that result. Both are allocated once, when the graph is built, for the largest batch.
///
/// A subclass says how to compute the value from the inputs' values (forward) and the inputs'
/// gradients from its own (backward). It never calls its neighbours: the graph visits the nodes in
/// order.
template <typename T>
class Node {
 public:
  virtual ~Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// Unique in its graph: "fc1", "loss".
  const std::string& name() const { return name_; }

  /// What the node does, for tables: "linear", "argmax".
  virtual std::string operation() const = 0;

  /// Shape of one sample's value; of the whole value where the node is not batched().
  const Shape& sample_shape() const { return sample_; }

  /// Whether there is one value for each sample of the batch (everything but parameters).
  virtual bool batched() const { return true; }

  /// Shape of the value for a batch of `rows` samples.
  Shape value_shape(Index rows) const { return batched() ? sample_.batched(rows) : sample_; }

  /// Whether allocate() makes room for a value and, in training, its gradient.
  virtual bool stores_value() const { return true; }

  /// Whether forward() and backward() do any work that is worth measuring.
  virtual bool computes() const { return true; }

  /// Whether the mean of this node's value over the batch is to be minimized.
  virtual bool is_loss() const { return false; }

  /// Whether the loss is differentiated with respect to this node's value.
  virtual bool requires_gradient() const;

  /// The value, in the backend's memory, [rows, sample_shape()...].
  virtual T* value() { return value_.data(); }

  /// The gradient, shaped as the value; null before the graph is built or if not required.
  virtual T* gradient() { return gradient_.data(); }

  const std::vector<Node*>& inputs() const { return inputs_; }

  /// Which rows of value() are the batch; all, but for a data set that is on the device as a whole.
  virtual Selection selection() { return {}; }

  /// Whether backward() passes the graph's updates on to the backend; see sink().
  virtual bool applies_updates() const { return false; }

  /// Computes the value of the first `rows` samples from the inputs' values.
  virtual void forward(Backend<T>& backend, Index rows) = 0;

  /// Computes the inputs' gradients, where required, from this node's own.
  virtual void backward(Backend<T>& backend, Index rows) = 0;

 protected:
  /// @param inputs nodes of the same graph, each added before this one.
  Node(std::string name, const Shape& sample, std::vector<Node*> inputs)
      : name_(std::move(name)),
        sample_(sample),
        inputs_(std::move(inputs)),
        input_gradients_(inputs_.size(), nullptr),
        sinks_(inputs_.size()) {}

  /// Called once by the graph when it is built. An override allocates what else the node needs.
  virtual void allocate(Backend<T>& backend, Index max_rows, bool with_gradients);

  /// Where backward() writes the gradient of input `i`; null where nobody needs it.
  T* input_gradient(std::size_t i) { return input_gradients_[i]; }

  /// Where the gradient of input `i`, a parameter, goes: input_gradient(), and an update at once
  /// where the graph is to make updates and nobody else reads this parameter.
  const GradientSink<T>& sink(std::size_t i);

  Tensor<T> value_;
  Tensor<T> gradient_;

 private:
  friend class Graph<T>;

  std::string name_;
  Shape sample_;
  std::vector<Node*> inputs_;
  std::vector<T*> input_gradients_;
  std::vector<GradientSink<T>> sinks_;  ///< of each input; without `gradient`, which is above
};

extern template class Node<float>;
extern template class Node<double>;

}  // namespace stagewise
