#include "network/model.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "network/layers.hpp"
#include "tensor/error.hpp"
#include "tensor/option_error.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

/// In the order of LossKind.
constexpr std::array losses = {std::pair{LossKind::cross_entropy, "cross-entropy"},
                               std::pair{LossKind::squared_error, "squared-error"}};

template <typename Table>
auto value_in(const Table& table, const std::string& text, const char* what) {
  const auto entry =
      std::find_if(table.begin(), table.end(), [&](const auto& candidate) { return candidate.second == text; });
  if (entry == table.end()) {
    std::vector<std::string> names;
    for (const auto& [value, name] : table) names.emplace_back(name);
    throw UsageError("there is no " + std::string(what) + " " + in_quotes(text) + did_you_mean(text, names));
  }
  return entry->first;
}

/// Builds a model line by line.
class Builder {
 public:
  explicit Builder(const ModelOptions& options) : options_(&options) {}

  //! [begin]
  void begin() {
    Program& p = model.program;
    const auto data = [&](const char* name, const Shape& shape, Type type, bool is_batched) {
      return p.add({.name = name, .shape = shape, .role = Role::data, .type = type, .is_batched = is_batched});
    };
    model.features = data("features", options_->sample, Type::real, false);
    model.labels = data("labels", {}, Type::classes, false);
    model.order = data("order", {}, Type::order, true);
    model.batch = p.add({.name = "batch", .shape = options_->sample, .is_batched = true});
    model.batch_labels = p.add({.name = "batch labels", .type = Type::classes, .is_batched = true});
    p.append(Gather{.features = model.features,
                    .labels = model.labels,
                    .order = model.order,
                    .batch = model.batch,
                    .batch_labels = model.batch_labels});
  }
  //! [begin]

  //! [mlp]
  /// The layers fc1, ..., fcL, fcL being the output. Its values are logits, except with squared
  /// error and sigmoid hidden layers: then it is sigmoid, too.
  void add_fully_connected(ValueId input, std::vector<Index> widths) {
    const Activation of_output =
        options_->loss == LossKind::squared_error && options_->activation == Activation::sigmoid ? Activation::sigmoid
                                                                                                 : Activation::none;
    widths.push_back(options_->classes);
    ValueId layer = input;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string name = "fc" + std::to_string(i + 1);
      const Index in = model[layer].shape.elements();
      const ValueId weight = add_parameter(name + "/weight", {in, widths[i]}, Role::weight);
      const ValueId bias = add_bias(name, widths[i]);
      layer = append_linear(model.program, name, layer, weight, bias,
                            i + 1 < widths.size() ? options_->activation : of_output);
    }
    model.outputs = layer;
  }
  //! [mlp]

  //! [cnn]
  void add_convolution(const std::string& name, Index filters) {
    constexpr Index side = 5;
    constexpr Index window = 2;
    const Index channels = model[last_].shape[2];
    const ValueId filter = add_parameter(name + "/filter", {side, side, channels, filters}, Role::weight);
    last_ = append_convolution_relu_pool(model.program, name, last_, filter, add_bias(name, filters), window);
  }

  void build_cnn() {
    last_ = model.batch;
    add_convolution("conv1", 32);
    add_convolution("conv2", 64);
    add_fully_connected(last_, {128});
    end(options_->loss);
  }
  //! [cnn]

  //! [neuron]
  void build_neuron() {
    const Index in = model[model.batch].shape.elements();
    const ValueId weight = add_parameter("fc1/weight", {in, 1}, Role::weight);
    const ValueId bias = add_parameter("fc1/bias", {1}, Role::bias);
    model.outputs = append_linear(model.program, "fc1", model.batch, weight, bias, Activation::sigmoid);
    end(LossKind::squared_error, 0.5);
  }
  //! [neuron]

  //! [end]
  /// Loss, prediction and totals.
  void end(LossKind loss, std::optional<double> threshold = std::nullopt) {
    Program& p = model.program;
    model.row_losses = p.add({.name = "row losses", .is_batched = true});
    if (loss == LossKind::cross_entropy) {
      const ValueId probabilities =
          p.add({.name = "probabilities", .shape = p[model.outputs].shape, .is_batched = true});
      p.append(SoftmaxCrossEntropy{.logits = model.outputs,
                                   .labels = model.batch_labels,
                                   .probabilities = probabilities,
                                   .row_losses = model.row_losses});
    } else {
      p.append(SquaredError{.outputs = model.outputs, .labels = model.batch_labels, .row_losses = model.row_losses});
    }
    model.classes = p.add({.name = "classes", .type = Type::classes, .is_batched = true});
    model.threshold = threshold;
    if (threshold) {
      p.append(Threshold{.outputs = model.outputs, .classes = model.classes, .threshold = *threshold});
    } else {
      p.append(ArgMax{.outputs = model.outputs, .classes = model.classes});
    }
    model.totals = p.add({.name = "totals", .role = Role::total, .type = Type::totals});
    p.append(Accumulate{.row_losses = model.row_losses,
                        .classes = model.classes,
                        .labels = model.batch_labels,
                        .totals = model.totals});
  }
  //! [end]

  Model model;

 private:
  ValueId add_parameter(const std::string& name, const Shape& shape, Role role) {
    const ValueId id = model.program.add({.name = name, .shape = shape, .role = role});
    model.parameters.push_back(id);
    return id;
  }

  ValueId add_bias(const std::string& layer, Index length) {
    if (!options_->biases) return {};
    return add_parameter(layer + "/bias", {length}, Role::bias);
  }

  const ModelOptions* options_;
  ValueId last_;
};

void check(const ModelOptions& options) {
  if (options.name == "cnn" && options.sample.rank() != 3) {
    throw OptionError("--model cnn takes images, but a sample of this data set has shape " + options.sample.to_string(),
                      {"model"});
  }
  if (options.name == "cnn" && options.activation != Activation::relu) {
    throw OptionError("--model cnn has relu units only; leave --activation out", {"model", "activation"});
  }
  if (options.name == "neuron" && options.classes != 2) {
    throw OptionError("--model neuron tells two classes apart, but the data set has " + std::to_string(options.classes),
                      {"model"});
  }
}

}  // namespace

const std::vector<std::string>& model_names() {
  static const std::vector<std::string> names = {"mlp", "cnn", "neuron"};
  return names;
}

Index Model::parameter_count() const {
  return std::accumulate(parameters.begin(), parameters.end(), Index{0},
                         [&](Index sum, ValueId parameter) { return sum + program[parameter].shape.elements(); });
}

Program Model::prediction() const {
  Program result = program;
  std::erase_if(result.lines, [](const Line& line) {
    return is_a<Gather, SoftmaxCrossEntropy, SquaredError, Accumulate>(line.operation);
  });
  return result;
}

Model build_model(const ModelOptions& options) {
  check(options);
  Builder builder(options);
  builder.begin();
  if (options.name == "mlp") {
    builder.add_fully_connected(builder.model.batch, options.hidden);
    builder.end(options.loss);
  } else if (options.name == "cnn") {
    builder.build_cnn();
  } else if (options.name == "neuron") {
    builder.build_neuron();
  } else {
    throw UsageError("there is no model " + in_quotes(options.name));
  }
  return std::move(builder.model);
}

std::string to_string(Activation activation) {
  return activation == Activation::none ? "none" : names_of(activation).name;
}
std::string to_string(LossKind loss) { return losses.at(static_cast<std::size_t>(loss)).second; }

Activation parse_activation(const std::string& text) {
  if (text == "none") throw UsageError("there is no activation 'none': hidden layers need one");
  std::vector<std::pair<Activation, std::string>> named;
  for (const ActivationNames& one : activations) named.emplace_back(one.activation, one.name);
  return value_in(named, text, "activation");
}

LossKind parse_loss(const std::string& text) { return value_in(losses, text, "loss"); }

}  // namespace stagewise
