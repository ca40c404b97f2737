/// @file
/// The networks that the project trains.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace stagewise {

/// What is minimized.
enum class LossKind : std::uint8_t { cross_entropy, squared_error };

/// Which network to build. Together with the shape of the data it determines every parameter.
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

/// A network with its entrance and its exits.
template <typename T>
struct Network {
  explicit Network(Backend<T>& backend, Index max_rows)
      : graph(backend), labels(backend.template allocate<std::int32_t>({max_rows})) {}

  Graph<T> graph;
  Labels labels;                        ///< classes of the current batch, [max_rows]
  Placeholder<T>* input = nullptr;      ///< samples of the current batch
  Loss<T>* loss = nullptr;              ///< one number a sample
  Prediction<T>* prediction = nullptr;  ///< one class a sample
};

/// How many numbers the network learns.
template <typename T>
Index parameter_count(const Network<T>& network) {
  Index count = 0;
  for (const auto* const parameter : network.graph.parameters()) count += parameter->elements();
  return count;
}

/// Builds the network for batches of up to `max_rows` samples. Its parameters are still undefined.
/// @param on_size called before memory is asked for, with the bytes that this takes at least.
/// @throws UsageError if model and data do not go together.
template <typename T>
std::unique_ptr<Network<T>> build_model(Backend<T>& backend, const ModelOptions& options,
                                        Index max_rows, GraphMode mode,
                                        const std::function<void(double)>& on_size = {});

/// "relu", "sigmoid", "none".
std::string to_string(Activation activation);

/// "cross-entropy", "squared-error".
std::string to_string(LossKind loss);

/// @throws UsageError for an unknown name.
Activation parse_activation(const std::string& text);

/// @throws UsageError for an unknown name.
LossKind parse_loss(const std::string& text);

}  // namespace stagewise
