/// @file
/// A sum over the ranks as an operation of the network.
#pragma once

#include <memory>
#include <string>

#include "05_mpi/transport.hpp"
#include "graph/node.hpp"

namespace stagewise::mpi {

/// The sum of all ranks' inputs, in place. What the loss says about the sum it says about each of
/// the summands, so the gradient passes through as it is: every rank has it already.
template <typename T>
class AllReduce final : public Node<T> {
 public:
  /// @param input nobody else reads it, and its backward() does not need its value.
  /// @param transport for value_shape() numbers of the largest batch; outlives the node.
  AllReduce(std::string name, Node<T>& input, Transport<T>& transport)
      : Node<T>(std::move(name), input.sample_shape(), {&input}), transport_(&transport) {}
  std::string operation() const override { return "all-reduce"; }
  T* value() override { return this->inputs()[0]->value(); }
  T* gradient() override { return this->input_gradient(0); }

  //! [forward]
  void forward(Backend<T>& /*backend*/, Index rows) override {
    const Piece<T> sum = {value(), this->value_shape(rows).elements()};
    transport_->begin({&sum, 1});
    transport_->finish();
  }
  void backward(Backend<T>& /*backend*/, Index /*rows*/) override {}
  bool stores_value() const override { return false; }
  //! [forward]

 protected:
  void allocate(Backend<T>& /*backend*/, Index /*max_rows*/, bool /*with_gradients*/) override {}

 private:
  Transport<T>* transport_;
};

}  // namespace stagewise::mpi
