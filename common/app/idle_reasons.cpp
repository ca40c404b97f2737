#include "app/idle_reasons.hpp"

#include "io/data_sets/catalog.hpp"

namespace stagewise::idle {

std::string of_perceptron(const RunOptions& options) {
  if (options.model.name == "mlp") return "";
  return options.model.name == "cnn"
             ? "is for --model mlp: the layers of cnn are fixed"
             : "is for --model mlp: a neuron is one sigmoid unit with a squared error";
}

std::string of_layers(const RunOptions& options) {
  return options.model.name == "neuron" ? of_perceptron(options) : "";
}

std::string of_losses(const RunOptions& options) {
  return options.model.loss == LossKind::squared_error ? "" : of_layers(options);
}

std::string of_activations(const RunOptions& options) {
  const ModelOptions& model = options.model;
  if (model.name == "mlp" && model.hidden.empty() && model.loss != LossKind::squared_error) {
    return "is for hidden layers, and --hidden none leaves none";
  }
  return model.activation == Activation::sigmoid ? "" : of_layers(options);
}

std::string of_path(const RunOptions& options) {
  return options.data.format.empty() ? "is for a path" : "";
}

std::string of_table(const RunOptions& options) {
  if (is_table(options.data)) return "";
  return "names a column of a CSV file, but " + options.data.name + " is none";
}

std::string of_data_folder(const RunOptions& options) {
  if (is_in_data_folder(options.data)) return "";
  return "is for data sets that are read from there, and " + options.data.name + " is " +
         (options.data.format.empty() ? "generated" : "a path");
}

std::string of_gaussian(const RunOptions& options) {
  const bool is_gaussian = options.data.name == "gaussian" && options.data.format.empty();
  return is_gaussian ? "" : "is for --dataset gaussian";
}

std::string of_momentum(const RunOptions& options) {
  return options.training.sgd.rule == Rule::momentum ? "" : "is for --optimizer momentum";
}

std::string of_adam(const RunOptions& options) {
  return options.training.sgd.rule == Rule::adam ? "" : "is for --optimizer adam";
}

std::string of_workers(const RunOptions& options) {
  return options.workers.workers == 1 ? "is for several workers, and there is but one" : "";
}

std::string of_weights(const RunOptions& options) {
  if (options.workers.average == Average::weights) return of_workers(options);
  return options.workers.workers == 1
             ? of_workers(options)
             : "is for --average weights: gradients are averaged in every step";
}

std::string of_randomness(const RunOptions& options) {
  if (options.load.empty() || options.training.shuffle) return "";
  return "has nothing to decide: --load gives the weights, and --shuffle off the order";
}

std::string of_more_epochs(const RunOptions& options) {
  if (options.save_every < options.training.epochs) return "";
  return "adds nothing: --save writes at the end, and --epochs is " +
         std::to_string(options.training.epochs);
}

std::string of_picture(const RunOptions& options) {
  return options.image.empty() ? "is for a picture, which --image names" : "";
}

}  // namespace stagewise::idle
