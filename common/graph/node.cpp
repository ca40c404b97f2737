#include "graph/node.hpp"

#include <algorithm>

namespace stagewise {

template <typename T>
bool Node<T>::requires_gradient() const {
  return std::any_of(inputs_.begin(), inputs_.end(),
                     [](const Node* input) { return input->requires_gradient(); });
}

template <typename T>
void Node<T>::allocate(Backend<T>& backend, Index max_rows, bool with_gradients) {
  const Shape shape = value_shape(max_rows);
  value_ = backend.template allocate<T>(shape);
  if (with_gradients && requires_gradient()) gradient_ = backend.template allocate<T>(shape);
}

template <typename T>
const GradientSink<T>& Node<T>::sink(std::size_t i) {
  sinks_[i].gradient = input_gradients_[i];
  return sinks_[i];
}

template class Node<float>;
template class Node<double>;

}  // namespace stagewise
