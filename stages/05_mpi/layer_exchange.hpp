/// @file
/// The exchange of gradients, one message a layer.
#pragma once

#include <memory>
#include <vector>

#include "04_minibatch/gradient_exchange.hpp"
#include "05_mpi/transport.hpp"

namespace stagewise::mpi {

/// Adds the gradients of all ranks up and updates the parameters, the same on every rank.
///
/// The backward pass comes to the last layer first. As soon as the gradients of a layer's weights
/// and bias are there, they leave together, as one message, while those of the layers below are
/// still being computed.
template <typename T>
class LayerExchange final : public GradientExchange<T> {
 public:
  /// @param graph whose parameters are exchanged. All arguments must outlive this.
  /// @throws Error if there is too little memory.
  LayerExchange(Graph<T>& graph, const Sgd& sgd, World& world, const cuda::Stream& stream,
                const TransportOptions& options);

  /// Says how large the batch of the next steps is.
  void set_batch_rows(Index rows) { batch_rows_ = rows; }

  Index batch_rows() const override { return batch_rows_; }
  void complete(Parameter<T>& parameter) override;
  void finish() override;

  /// The whole step of a rank that has no row of the batch: its gradients are 0.
  void contribute_nothing();

 private:
  /// The parameters of one layer.
  struct Layer {
    std::vector<Parameter<T>*> parameters;
    std::vector<Piece<T>> pieces;  ///< their gradients
    std::size_t complete = 0;      ///< how many of them are
  };

  Graph<T>* graph_;
  const Sgd* sgd_;
  std::vector<Layer> layers_;  ///< the last one first
  std::size_t next_ = 0;       ///< the layer whose message is to begin
  Index batch_rows_ = 0;
  std::unique_ptr<Transport<T>> transport_;
};

extern template class LayerExchange<float>;
extern template class LayerExchange<double>;

}  // namespace stagewise::mpi
