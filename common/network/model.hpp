/// @file
/// The networks that the project trains, as programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "network/program.hpp"

namespace stagewise {

/// Which network to build. Together with the shape of the data, it determines every parameter.
struct ModelOptions {
  std::string name = "mlp";           ///< mlp, cnn or neuron
  std::vector<Index> hidden = {256};  ///< mlp: widths of the hidden layers, first to last
  Activation activation = Activation::relu;
  LossKind loss = LossKind::cross_entropy;
  bool biases = true;  ///< mlp and cnn: whether layers have biases
  Shape sample;        ///< shape of one sample of the data
  int classes = 0;     ///< number of classes of the data
};

/// The names that `--model` accepts.
const std::vector<std::string>& model_names();

/// A network: the program that leads from a batch to the totals, with its inputs and outputs.
struct Model {
  Program program;  ///< gather, the layers, loss, prediction, totals

  ValueId features;  ///< the data set
  ValueId labels;
  ValueId order;
  ValueId batch;
  ValueId batch_labels;
  ValueId outputs;     ///< of the last layer
  ValueId row_losses;  ///< training minimizes their mean over the batch
  ValueId classes;     ///< the predictions
  ValueId totals;
  std::vector<ValueId> parameters;  ///< in the order of the layers

  /// Where class 1 begins if one output names the class.
  std::optional<double> threshold;

  const Value& operator[](ValueId id) const { return program[id]; }

  /// How many numbers the network learns.
  Index parameter_count() const;

  /// The lines from a given batch to the classes: neither gather nor loss.
  Program prediction() const;
};

/// Builds the network.
/// @throws UsageError if model and data do not match.
Model build_model(const ModelOptions& options);

/// Its name, or "none".
std::string to_string(Activation activation);

/// "cross-entropy", "squared-error".
std::string to_string(LossKind loss);

/// @throws UsageError for an unknown name.
Activation parse_activation(const std::string& text);

/// @throws UsageError for an unknown name.
LossKind parse_loss(const std::string& text);

}  // namespace stagewise
