#include "04_minibatch/output_layer/output_layer.hpp"

#include "04_minibatch/fuse/patterns.hpp"

namespace stagewise::minibatch {
namespace {

/// What follows the outputs of a network in training: the loss, the prediction, the totals, and the
/// backward pass through the loss and the outputs' activation.
struct Ending {
  std::vector<std::size_t> members;
  ValueId labels;
  ValueId row_losses;
  ValueId classes;
  ValueId doutputs;  ///< before the outputs' activation
  ValueId totals;
  LossAttributes attributes;
};

/// Adds a line that reads the outputs to the ending, if it is part of it.
void take(const Rewriter& rewriter, std::size_t line, Ending& ending) {
  if (const auto* const entropy = rewriter.get<SoftmaxCrossEntropy>(line)) {
    ending.labels = entropy->labels;
    ending.row_losses = entropy->row_losses;
    const auto back = rewriter.reader_of<SoftmaxCrossEntropyBackward>(entropy->probabilities);
    if (!back) return;
    ending.doutputs = rewriter.get<SoftmaxCrossEntropyBackward>(*back)->dlogits;
    ending.members.push_back(*back);
  } else if (const auto* const squares = rewriter.get<SquaredError>(line)) {
    ending.attributes.loss = LossKind::squared_error;
    ending.labels = squares->labels;
    ending.row_losses = squares->row_losses;
  } else if (const auto* const gradient = rewriter.get<SquaredErrorBackward>(line)) {
    ending.doutputs = gradient->doutputs;
  } else if (const auto* const largest = rewriter.get<ArgMax>(line)) {
    ending.classes = largest->classes;
  } else if (const auto* const threshold = rewriter.get<Threshold>(line)) {
    ending.classes = threshold->classes;
    ending.attributes.threshold = threshold->threshold;
  } else {
    return;
  }
  ending.members.push_back(line);
}

/// @param activation computes the outputs.
std::optional<Ending> ending_of(const Rewriter& rewriter, ValueId outputs, Activation activation) {
  Ending ending;
  for (const std::size_t line : rewriter.readers_of(outputs)) take(rewriter, line, ending);
  if (!ending.row_losses || !ending.classes || !ending.doutputs) return std::nullopt;
  const auto totals = rewriter.reader_of<Accumulate>(ending.row_losses);
  if (!totals) return std::nullopt;
  ending.totals = rewriter.get<Accumulate>(*totals)->totals;
  ending.members.push_back(*totals);
  ending.attributes.activation = activation;
  if (const auto back = activation_backward_of(rewriter, ending.doutputs)) {
    ending.doutputs = back->result;
    ending.members.push_back(back->line);
  } else if (activation != Activation::none) {
    return std::nullopt;
  }
  return ending;
}

/// Adds the value in which the kernel leaves what the totals need.
ValueId add_partials(Fusion& fusion, const Ending& ending) {
  const Value& totals = fusion.value(ending.totals);
  const std::string of_worker = totals.name.substr(std::string("totals").size());
  return fusion.rewriter.add({.name = "partials" + of_worker,
                              .shape = {max_partials()},
                              .type = Type::partials,
                              .part = fusion.value(ending.doutputs).part});
}

/// Replaces the ending; the totals become a separate line.
bool replace(Fusion& fusion, const std::vector<std::size_t>& members, const Operation& fused,
             ValueId partials, ValueId totals) {
  const auto line = fusion.rewriter.fuse(members, fused);
  if (!line) return false;
  fusion.rewriter.split_off<Accumulate>(*line, AddPartials{.partials = partials, .totals = totals});
  return true;
}

/// The activation that computes a value, if there is one.
Activation activation_before(const Rewriter& rewriter, ValueId outputs) {
  const auto writer = rewriter.writer_of(outputs);
  if (!writer) return Activation::none;
  if (const auto* const layer = rewriter.get<Linear>(*writer)) return layer->activation;
  Activation found = Activation::none;
  for_each_activation([&]<Activation activation>() {
    if (rewriter.get<Activate<activation>>(*writer) != nullptr) found = activation;
  });
  return found;
}

//! [output_layer]
/// Fuses a layer and what comes after its outputs.
/// @param fused the new line, with the layer's operands.
/// @param members the lines that it replaces so far.
template <typename T>
bool fuse_with_ending(Fusion& fusion, OutputLayer fused, std::vector<std::size_t> members,
                      ValueId outputs, Activation activation) {
  Rewriter& rewriter = fusion.rewriter;
  const auto ending = ending_of(rewriter, outputs, activation);
  const Shape& weight = fusion.value(fused.weight).shape;
  if (!ending || !fits_output_layer<T>(weight[0], weight[1])) return false;

  fused.labels = ending->labels;
  fused.doutput = ending->doutputs;
  fused.partials = add_partials(fusion, *ending);
  fused.at = ending->attributes;
  fused.warp_per_row = fusion.last_layer == LastLayer::warp_per_row;
  members.insert(members.end(), ending->members.begin(), ending->members.end());
  for (const std::size_t reader : rewriter.readers_of(ending->doutputs)) {
    const auto* const back = rewriter.get<LinearInputGradient>(reader);
    if (back == nullptr || back->weight != fused.weight) continue;
    fused.dinput = back->dinput;
    fused.input_activation = back->input_activation;
    members.push_back(reader);
  }
  return replace(fusion, members, fused, fused.partials, ending->totals);
}

}  // namespace

template <typename T>
bool fuse_output_layer(Fusion& fusion, std::size_t i) {
  const auto* const layer = fusion.rewriter.get<Linear>(i);
  if (layer == nullptr) return false;
  return fuse_with_ending<T>(fusion,
                             {.input = layer->input, .weight = layer->weight, .bias = layer->bias},
                             {i}, layer->output, layer->activation);
}
//! [output_layer]

//! [summed_output_layer]
template <typename T>
bool fuse_summed_output_layer(Fusion& fusion, std::size_t i) {
  const Rewriter& rewriter = fusion.rewriter;
  const auto* const sum = rewriter.get<AllReduce>(i);
  if (sum == nullptr || sum->values.size() != 1) return false;
  const ValueId product = sum->values.front();
  const auto writer = rewriter.writer_of(product);
  const auto* const layer = writer ? rewriter.get<Linear>(*writer) : nullptr;
  if (layer == nullptr || layer->bias || layer->activation != Activation::none) return false;

  OutputLayer fused = {.input = layer->input, .weight = layer->weight, .product = product};
  std::vector<std::size_t> members;
  ValueId outputs = product;
  if (const auto line = rewriter.reader_of<AddBias>(product)) {
    fused.bias = rewriter.get<AddBias>(*line)->bias;
    outputs = rewriter.get<AddBias>(*line)->y;
    members.push_back(*line);
  }
  const auto activation = activation_of(rewriter, outputs);
  if (activation) {
    outputs = activation->output;
    members.push_back(activation->line);
  }
  return fuse_with_ending<T>(fusion, fused, members, outputs,
                             activation ? activation->activation : Activation::none);
}
//! [summed_output_layer]

bool fuse_loss(Fusion& fusion, std::size_t i) {
  const Rewriter& rewriter = fusion.rewriter;
  ValueId outputs;
  if (const auto* const entropy = rewriter.get<SoftmaxCrossEntropy>(i)) outputs = entropy->logits;
  if (const auto* const squares = rewriter.get<SquaredError>(i)) outputs = squares->outputs;
  if (!outputs) return false;
  const auto ending = ending_of(rewriter, outputs, activation_before(rewriter, outputs));
  if (!ending) return false;
  const Loss fused = {.outputs = outputs,
                      .labels = ending->labels,
                      .doutputs = ending->doutputs,
                      .partials = add_partials(fusion, *ending),
                      .at = ending->attributes};
  return replace(fusion, ending->members, fused, fused.partials, ending->totals);
}

template bool fuse_output_layer<float>(Fusion&, std::size_t);
template bool fuse_output_layer<double>(Fusion&, std::size_t);
template bool fuse_summed_output_layer<float>(Fusion&, std::size_t);
template bool fuse_summed_output_layer<double>(Fusion&, std::size_t);

}  // namespace stagewise::minibatch
