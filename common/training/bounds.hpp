/// @file
/// How large the numbers of a training can have become: this tells a training that diverged from an
/// operation that computes wrong numbers.
#pragma once

#include <vector>

#include "data/dataset.hpp"
#include "io/checkpoint.hpp"
#include "network/model.hpp"

namespace stagewise {

/// The largest magnitude of a data set's features; 0 where another process holds them. A value that
/// `T` cannot hold counts as infinite.
template <typename T>
double largest_input(const Dataset& dataset);

/// Bounds on everything that a network computes, layer by layer: sums of products are at most the
/// number of terms times the largest of each factor. They hold for every order of the samples and
/// every activation, and are far too large; but if the precision holds even them, neither rounding
/// nor the learning rate can have made a NaN.
class Bounds {
 public:
  /// @param largest_input of the data set.
  /// @param parameters where the training stands, in the order of the layers.
  Bounds(const Model& model, double largest_input, const std::vector<ParameterValues>& parameters);

  /// Whether no number of a step from here is beyond what `T` holds: forward, loss, backward.
  template <typename T>
  bool can_hold(Index batch_size) const;

  /// Takes a step: the parameters may have grown by as much as the bounds allow.
  void take_step(const Sgd& sgd);

  /// As it was given.
  double largest_input() const { return largest_input_; }

  /// The largest magnitude of a parameter as they were given; infinite where one is NaN.
  double largest_parameter() const { return largest_parameter_; }

 private:
  /// What is multiplied with a weight or filter, and what is added to the products.
  struct Layer {
    double terms_forward;   ///< of an output's sum
    double terms_backward;  ///< of an input gradient's sum
    double places;          ///< how many places use a filter's value; 1 for a weight
    double weight;          ///< the largest, and likewise below
    double bias;
    double input = 0;
    double output_gradient = 0;
  };

  /// Computes the inputs and the gradients of all layers, the last layer's output included.
  void propagate();

  double largest_input_;
  double largest_parameter_ = 0;
  std::vector<Layer> layers_;
  int loss_degree_;
  double output_ = 0;
};

}  // namespace stagewise
