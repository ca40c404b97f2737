/// @file
/// The network as a static graph of operations: built once, run many times (after report 002).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "graph/node.hpp"
#include "graph/operations.hpp"

namespace stagewise {

/// What a node has cost so far.
struct Timing {
  std::string operation;  ///< "fc1 (linear)"
  std::int64_t calls = 0;
  double forward_seconds = 0;
  double backward_seconds = 0;
};

/// Whether a graph is built for training or only for its outputs.
enum class GraphMode : std::uint8_t { training, inference };

/// Owns the nodes. They are added in an order in which each follows its inputs, so that this order
/// is topological: forward() runs through it, backward() runs back.
///
/// Backpropagation is automatic: a node whose value feeds several others gets the sum of what they
/// send back, and a node on which no parameter depends gets nothing.
template <typename T>
class Graph {
 public:
  /// @param backend must outlive the graph.
  explicit Graph(Backend<T>& backend) : backend_(&backend) {}

  /// Creates a node of type `N`, passing the arguments to its constructor.
  /// @return the node; owned by the graph, at a fixed address.
  /// @throws Error if the name is taken or the node's arguments do not fit together.
  template <typename N, typename... Args>
  N& add(Args&&... args) {
    auto node = std::make_unique<N>(std::forward<Args>(args)...);
    N& reference = *node;
    insert(std::move(node));
    return reference;
  }

  /// Allocates every value and gradient for batches of up to `max_rows` samples. Call it once,
  /// after the last add(); parameters keep undefined values until they are set.
  /// @param on_size called before, with the bytes that this takes at least.
  /// @throws Error before anything is allocated if there is not enough memory for them.
  void build(Index max_rows, GraphMode mode, const std::function<void(double)>& on_size = {});

  /// Size of the current batch: at least 1, at most `max_rows`.
  void set_rows(Index rows);
  Index rows() const { return rows_; }
  Index max_rows() const { return max_rows_; }

  /// Computes every node's value.
  /// @param measured whether the time counts for timings(), if these are enabled.
  void forward(bool measured = true) { forward_before(nodes_.size(), measured); }

  /// Computes the gradient of the loss with respect to every parameter and every value before it.
  /// @pre forward() has run on the same batch, and the graph was built for training.
  void backward() { backward_before(nodes_.size()); }

  /// Only the nodes that were added before node number `end`: for who computes the others himself.
  void forward_before(std::size_t end, bool measured = true);

  /// Likewise; the gradient of what the node number `end` and those behind it read must be there.
  void backward_before(std::size_t end);

  /// Makes backward() apply an update to each parameter as soon as its gradient is complete, if
  /// possible without storing the gradient. Null: it only computes gradients, as in the beginning.
  void update_in_backward(const Sgd* sgd);

  /// The number of a node, in the order in which they were added.
  std::size_t number_of(const Node<T>& node) const;

  /// Who is told, within backward(), that a parameter's gradient is complete: from then on nothing
  /// in this backward() reads the parameter or writes its gradient. Stage 05 starts exchanging it.
  void on_gradient_complete(std::function<void(Parameter<T>&)> observer) {
    observer_ = std::move(observer);
  }

  /// The parameters, in the order in which they were added.
  const std::vector<Parameter<T>*>& parameters() const { return parameters_; }

  const std::vector<std::unique_ptr<Node<T>>>& nodes() const { return nodes_; }

  /// What the nodes compute with.
  Backend<T>& backend() { return *backend_; }

  /// Measures every node from now on, waiting for the device before and after each: the sum of the
  /// rows is therefore more than an unmeasured run takes.
  void enable_timings();

  /// One row for each node that computes something, in the graph's order; empty unless enabled.
  const std::vector<Timing>& timings() const { return timings_; }

 private:
  void insert(std::unique_ptr<Node<T>> node);
  double expect_room() const;
  void plan_backward();
  void fuse_activations();

  /// The nodes that take part in backward() and read this one.
  std::vector<std::size_t> readers_of(const Node<T>& node) const;

  bool updates_at_once(std::size_t node, const Parameter<T>& parameter) const;
  void update_completed(std::size_t node);

  /// Where to note what a node costs; null where nothing is measured.
  Timing* timing_of(std::size_t node);

  /// A contribution to the gradient of a node that feeds several others: computed on the side, then
  /// added.
  struct Contribution {
    Node<T>* to;
    std::size_t input;  ///< which input of the contributing node `to` is
    Tensor<T> storage;
  };

  Backend<T>* backend_;
  std::vector<std::unique_ptr<Node<T>>> nodes_;
  std::vector<Parameter<T>*> parameters_;
  std::vector<std::vector<Contribution>> contributions_;  ///< for each node, after its backward
  std::vector<std::vector<Parameter<T>*>> completed_;     ///< for each node, after its backward
  std::vector<bool> takes_part_;                          ///< whether backward() visits the node
  std::function<void(Parameter<T>&)> observer_;
  std::optional<Sgd> updates_;  ///< what backward() applies
  std::vector<Timing> timings_;
  std::vector<std::size_t> timing_rows_;  ///< for each node, its row in timings_
  Index rows_ = 0;
  Index max_rows_ = 0;
  GraphMode mode_ = GraphMode::inference;
};

extern template class Graph<float>;
extern template class Graph<double>;

}  // namespace stagewise
