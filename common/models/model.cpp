#include "models/model.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "models/cnn.hpp"
#include "models/mlp.hpp"
#include "models/neuron.hpp"
#include "tensor/error.hpp"
#include "tensor/near_miss.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

constexpr std::array activations = {std::pair{Activation::none, "none"},
                                    std::pair{Activation::relu, "relu"},
                                    std::pair{Activation::sigmoid, "sigmoid"}};
constexpr std::array losses = {std::pair{LossKind::cross_entropy, "cross-entropy"},
                               std::pair{LossKind::squared_error, "squared-error"}};

template <typename Table, typename Value>
std::string name_in(const Table& table, Value value) {
  return std::find_if(table.begin(), table.end(),
                      [&](const auto& entry) { return entry.first == value; })
      ->second;
}

template <typename Table>
auto value_in(const Table& table, const std::string& text, const char* what) {
  const auto entry = std::find_if(table.begin(), table.end(),
                                  [&](const auto& candidate) { return candidate.second == text; });
  if (entry == table.end()) {
    std::vector<std::string> names;
    for (const auto& [value, name] : table) names.emplace_back(name);
    throw UsageError("there is no " + std::string(what) + " " + in_quotes(text) +
                     did_you_mean(text, names));
  }
  return entry->first;
}

}  // namespace

const std::vector<std::string>& model_names() {
  static const std::vector<std::string> names = {"mlp", "cnn", "neuron"};
  return names;
}

template <typename T>
std::unique_ptr<Network<T>> build_model(Backend<T>& backend, const ModelOptions& options,
                                        Index max_rows, GraphMode mode,
                                        const std::function<void(double)>& on_size) {
  auto network = std::make_unique<Network<T>>(backend, max_rows);
  network->input = &network->graph.template add<Placeholder<T>>("input", options.sample);
  if (options.name == "mlp") {
    build_mlp(*network, options);
  } else if (options.name == "cnn") {
    build_cnn(*network, options);
  } else if (options.name == "neuron") {
    build_neuron(*network, options);
  } else {
    throw UsageError("there is no model " + in_quotes(options.name));
  }
  network->graph.build(max_rows, mode, on_size);
  return network;
}

std::string to_string(Activation activation) {
  return name_in(activations, activation);
}
std::string to_string(LossKind loss) {
  return name_in(losses, loss);
}

Activation parse_activation(const std::string& text) {
  if (text == "none") throw UsageError("there is no activation 'none': hidden layers need one");
  return value_in(activations, text, "activation");
}

LossKind parse_loss(const std::string& text) {
  return value_in(losses, text, "loss");
}

template std::unique_ptr<Network<float>> build_model(Backend<float>&, const ModelOptions&, Index,
                                                     GraphMode, const std::function<void(double)>&);
template std::unique_ptr<Network<double>> build_model(Backend<double>&, const ModelOptions&, Index,
                                                      GraphMode,
                                                      const std::function<void(double)>&);

}  // namespace stagewise
