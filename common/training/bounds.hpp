/// @file
/// How large the numbers in a training run can have become: this distinguishes training that
/// diverged from an operation that computes wrong numbers.
#pragma once

#include <vector>

#include "data/dataset.hpp"
#include "io/checkpoint.hpp"
#include "network/model.hpp"
#include "network/optimizer.hpp"

namespace stagewise {

/// The largest magnitude of a data set's features. A value that `T` cannot hold counts as infinite.
template <typename T>
double largest_input(const Dataset& dataset);

/// Bounds on everything that a network computes, layer by layer: sums of products are at most the
/// number of terms times the largest of each factor. They hold for every order of the samples and
/// every activation, and are far from tight; but if even they are within the range of the
/// precision, neither rounding nor the learning rate can have caused a NaN.
class Bounds {
 public:
  /// @param largest_input the largest magnitude in the data set.
  /// @param parameters their current values, in the order of the layers.
  Bounds(const Model& model, double largest_input, const std::vector<ParameterValues>& parameters);

  /// Whether no number of the next step exceeds the range of `T`: forward, loss, backward.
  template <typename T>
  bool can_hold(Index batch_size) const;

  /// Takes a step: the parameters may have grown by as much as the bounds allow.
  void take_step(const Sgd& sgd);

  /// As it was given.
  double largest_input() const { return largest_input_; }

  /// The largest magnitude of the given parameters; infinite if one is NaN.
  double largest_parameter() const { return largest_parameter_; }

 private:
  /// The sums of products with a weight or filter, and what is added to them.
  struct Layer {
    double terms_forward;   ///< in an output's sum
    double terms_backward;  ///< in an input gradient's sum
    double places;          ///< how many positions use a filter's value; 1 for a weight
    double weight;          ///< the largest magnitude, as for the members below
    double bias;
    double input = 0;
    double output_gradient = 0;
  };

  /// Computes the inputs and the gradients of all layers, including the last layer's output.
  void propagate();

  double largest_input_;
  double largest_parameter_ = 0;
  std::vector<Layer> layers_;
  int loss_degree_;
  double output_ = 0;
};

}  // namespace stagewise
