#include "graph/graph.hpp"

#include <algorithm>
#include <chrono>
#include <set>

#include "tensor/counts.hpp"
#include "tensor/error.hpp"

namespace stagewise {
namespace {

/// Runs `work` and returns how long it took, the device's part included.
template <typename T, typename Work>
double measure(Backend<T>& backend, const Work& work) {
  backend.synchronize();
  const auto start = std::chrono::steady_clock::now();
  work();
  backend.synchronize();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

template <typename T>
void Graph<T>::insert(std::unique_ptr<Node<T>> node) {
  for (const auto& other : nodes_) {
    if (other->name() == node->name()) {
      throw Error("two nodes of the network are both named '" + node->name() + "'");
    }
  }
  if (auto* parameter = dynamic_cast<Parameter<T>*>(node.get())) parameters_.push_back(parameter);
  nodes_.push_back(std::move(node));
}

template <typename T>
void Graph<T>::build(Index max_rows, GraphMode mode) {
  max_rows_ = max_rows;
  rows_ = max_rows;
  mode_ = mode;
  for (const auto& node : nodes_) {
    node->allocate(*backend_, max_rows, mode == GraphMode::training);
  }
  if (mode == GraphMode::training) plan_backward();
}

template <typename T>
void Graph<T>::plan_backward() {
  contributions_.resize(nodes_.size());
  completed_.resize(nodes_.size());
  takes_part_.assign(nodes_.size(), false);

  // Walk as backward() will: from the losses to everything they depend on. The first node to reach
  // an input writes that input's gradient; any further one gets storage of its own, whose contents
  // are then added.
  std::set<Node<T>*> reached;
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    Node<T>& node = *nodes_[i];
    takes_part_[i] = node.requires_gradient() && (node.is_loss() || reached.contains(&node));
    if (!takes_part_[i]) continue;
    for (std::size_t k = 0; k < node.inputs().size(); ++k) {
      Node<T>& input = *node.inputs()[k];
      if (!input.requires_gradient() || reached.insert(&input).second) continue;
      contributions_[i].push_back(
          {&input, k, backend_->template allocate<T>(input.value_shape(max_rows_))});
    }
  }

  // Inputs first, because some nodes (flatten, add bias) pass their input's gradient on as theirs.
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Node<T>& node = *nodes_[i];
    if (!takes_part_[i]) continue;
    for (std::size_t k = 0; k < node.inputs().size(); ++k) {
      node.input_gradients_[k] = node.inputs()[k]->gradient();
    }
    for (Contribution& contribution : contributions_[i]) {
      node.input_gradients_[contribution.input] = contribution.storage.data();
    }
  }

  // On a parameter that no loss depends on, no loss depends: its gradient is 0 for ever.
  for (Parameter<T>* const parameter : parameters_) {
    if (!reached.contains(parameter)) {
      backend_->fill(parameter->elements(), T{0}, parameter->gradient());
    }
  }

  // A parameter's gradient is complete once the first node (in forward order) that reads it is
  // done.
  for (Parameter<T>* const parameter : parameters_) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto& inputs = nodes_[i]->inputs();
      if (takes_part_[i] && std::find(inputs.begin(), inputs.end(), parameter) != inputs.end()) {
        completed_[i].push_back(parameter);
        break;
      }
    }
  }
}

template <typename T>
void Graph<T>::set_rows(Index rows) {
  if (rows < 1 || rows > max_rows_) {
    throw Error("a batch of " + count_of(rows, "sample") +
                " does not fit into a network built for " + with_thousands(max_rows_));
  }
  rows_ = rows;
}

//! [forward]
template <typename T>
void Graph<T>::forward(bool measured) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const auto work = [&] { nodes_[i]->forward(*backend_, rows_); };
    if (Timing* const timing = measured ? timing_of(i) : nullptr) {
      timing->forward_seconds += measure(*backend_, work);
      ++timing->calls;
    } else {
      work();
    }
  }
}
//! [forward]

//! [backward]
template <typename T>
void Graph<T>::backward() {
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    Node<T>& node = *nodes_[i];
    if (!takes_part_[i]) continue;
    const auto work = [&] {
      node.backward(*backend_, rows_);
      for (Contribution& contribution : contributions_[i]) {
        // parameter -= -1 (gradient + 0 parameter) is plain addition.
        backend_->sgd_update(contribution.to->value_shape(rows_).elements(), T{-1}, T{0},
                             contribution.storage.data(), contribution.to->gradient());
      }
    };
    if (Timing* const timing = timing_of(i)) {
      timing->backward_seconds += measure(*backend_, work);
    } else {
      work();
    }
    if (observer_) {
      for (Parameter<T>* const parameter : completed_[i]) observer_(*parameter);
    }
  }
}
//! [backward]

template <typename T>
void Graph<T>::enable_timings() {
  timings_.clear();
  timing_rows_.clear();
  for (const auto& node : nodes_) {
    timing_rows_.push_back(timings_.size());
    if (!node->computes()) continue;
    timings_.push_back({.operation = node->name() + " (" + node->operation() + ")"});
  }
}

template <typename T>
Timing* Graph<T>::timing_of(std::size_t node) {
  if (timings_.empty() || !nodes_[node]->computes()) return nullptr;
  return &timings_[timing_rows_[node]];
}

template class Graph<float>;
template class Graph<double>;

}  // namespace stagewise
