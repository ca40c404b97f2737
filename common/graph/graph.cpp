#include "graph/graph.hpp"

#include <algorithm>
#include <set>

#include "tensor/counts.hpp"
#include "tensor/error.hpp"

namespace stagewise {
namespace {

/// l2 is for weights and filters.
template <typename T>
double l2_of(const Parameter<T>& parameter, const Sgd& sgd) {
  return parameter.kind() == ParameterKind::bias ? 0 : sgd.l2;
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
void Graph<T>::build(Index max_rows, GraphMode mode, const std::function<void(double)>& on_size) {
  max_rows_ = max_rows;
  rows_ = max_rows;
  mode_ = mode;
  const double bytes = expect_room();
  if (on_size) on_size(bytes);
  for (const auto& node : nodes_) {
    node->allocate(*backend_, max_rows, mode == GraphMode::training);
  }
  if (mode == GraphMode::training) plan_backward();
}

/// What is counted is the least that a stage needs: it may need more beside it.
template <typename T>
double Graph<T>::expect_room() const {
  double needed = 0;  // which no size makes overflow
  for (const auto& node : nodes_) {
    if (!node->stores_value()) continue;
    const bool has_gradient = mode_ == GraphMode::training && node->requires_gradient();
    needed += static_cast<double>(node->value_shape(max_rows_).elements()) * sizeof(T) *
              (has_gradient ? 2 : 1);
  }
  const Memory::Room room = backend_->memory().room();
  if (needed <= static_cast<double>(room.bytes)) return needed;
  throw Error("the network, for a batch of " + count_of(max_rows_, "sample") + ", needs at least " +
              size_text(needed) + ", but " + size_text(static_cast<double>(room.bytes)) + " of " +
              room.of + " are free; a smaller network or --batch-size needs less");
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
    const std::vector<std::size_t> readers = readers_of(*parameter);
    if (!readers.empty()) completed_[readers.front()].push_back(parameter);
  }
  if (backend_->fuses_activation_backward()) fuse_activations();
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
void Graph<T>::forward_before(std::size_t end, bool measured) {
  for (std::size_t i = 0; i < end; ++i) {
    const auto work = [&] { nodes_[i]->forward(*backend_, rows_); };
    if (Timing* const timing = measured ? timing_of(i) : nullptr) {
      timing->forward_seconds += backend_->measure(std::cref(work));
      ++timing->calls;
    } else {
      work();
    }
  }
}
//! [forward]

//! [backward]
template <typename T>
void Graph<T>::backward_before(std::size_t end) {
  for (std::size_t i = end; i-- > 0;) {
    Node<T>& node = *nodes_[i];
    if (!takes_part_[i]) continue;
    const auto work = [&] {
      node.backward(*backend_, rows_);
      for (Contribution& contribution : contributions_[i]) {
        // parameter -= -1 (gradient + 0 parameter) is plain addition.
        backend_->sgd_update(contribution.to->value_shape(rows_).elements(), T{-1}, T{0},
                             contribution.storage.data(), contribution.to->gradient());
      }
      if (updates_) update_completed(i);
    };
    if (Timing* const timing = timing_of(i)) {
      timing->backward_seconds += backend_->measure(std::cref(work));
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
void Graph<T>::update_in_backward(const Sgd* sgd) {
  updates_.reset();
  if (sgd != nullptr) updates_ = *sgd;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Node<T>& node = *nodes_[i];
    for (std::size_t k = 0; k < node.inputs().size(); ++k) {
      node.sinks_[k] = {};
      auto* const parameter = dynamic_cast<Parameter<T>*>(node.inputs()[k]);
      if (parameter == nullptr || !updates_ || !updates_at_once(i, *parameter)) continue;
      node.sinks_[k] = {.parameter = parameter->value(),
                        .learning_rate = static_cast<T>(updates_->learning_rate),
                        .l2 = static_cast<T>(l2_of(*parameter, *updates_))};
    }
  }
}

/// Whether the node's backward() makes the update itself.
template <typename T>
bool Graph<T>::updates_at_once(std::size_t node, const Parameter<T>& parameter) const {
  return nodes_[node]->applies_updates() && readers_of(parameter).size() == 1;
}

/// Updates the parameters whose gradients this node has completed, but for those that it has
/// updated itself.
template <typename T>
void Graph<T>::update_completed(std::size_t node) {
  for (Parameter<T>* const parameter : completed_[node]) {
    if (updates_at_once(node, *parameter)) continue;
    backend_->sgd_update(parameter->elements(), static_cast<T>(updates_->learning_rate),
                         static_cast<T>(l2_of(*parameter, *updates_)), parameter->gradient(),
                         parameter->value());
  }
}

template <typename T>
std::vector<std::size_t> Graph<T>::readers_of(const Node<T>& node) const {
  std::vector<std::size_t> readers;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const auto& inputs = nodes_[i]->inputs();
    if (takes_part_[i] && std::find(inputs.begin(), inputs.end(), &node) != inputs.end()) {
      readers.push_back(i);
    }
  }
  return readers;
}

/// Where a layer's output goes to another layer and nowhere else, the latter's backward() takes the
/// gradient through the former's activation.
template <typename T>
void Graph<T>::fuse_activations() {
  for (const auto& node : nodes_) {
    auto* const below = dynamic_cast<Linear<T>*>(node.get());
    if (below == nullptr || below->activation() == Activation::none) continue;
    const std::vector<std::size_t> readers = readers_of(*below);
    if (readers.size() != 1) continue;
    auto* const above = dynamic_cast<Linear<T>*>(nodes_[readers.front()].get());
    if (above != nullptr) above->take_over_activation_of(*below);
  }
}

template <typename T>
std::size_t Graph<T>::number_of(const Node<T>& node) const {
  return static_cast<std::size_t>(
      std::find_if(nodes_.begin(), nodes_.end(),
                   [&](const auto& candidate) { return candidate.get() == &node; }) -
      nodes_.begin());
}

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
