#include "training/bounds.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace stagewise {
namespace {

/// The workers of a training may begin with larger parameters than those that are looked at.
constexpr double margin = 4;

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) {
    if (std::isnan(value)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, std::abs(value));
  }
  return largest;
}

/// The largest ratio of Adam's moments, the first to the root of the second, whatever the gradients
/// (by the inequality of Cauchy and Schwarz); infinite if there is no bound.
double most_of_adam(const Sgd& sgd) {
  const double decay = sgd.beta1 * sgd.beta1 / sgd.beta2;
  return decay < 1 ? 1 / std::sqrt((1 - sgd.beta2) * (1 - decay))
                   : std::numeric_limits<double>::infinity();
}

}  // namespace

template <typename T>
double largest_input(const Dataset& dataset) {
  if (dataset.labels().empty()) return 0;
  if (dataset.values() == nullptr) return 1;  // bytes, divided by 255
  const double largest = largest_of(*dataset.values());
  return std::isfinite(static_cast<T>(largest)) ? largest : std::numeric_limits<double>::infinity();
}

Bounds::Bounds(const Model& model, double largest_input,
               const std::vector<ParameterValues>& parameters)
    : largest_input_(largest_input), loss_degree_(model.loss_degree) {
  const auto places = static_cast<double>(model[model.batch].shape.elements());
  for (const ParameterValues& parameter : parameters) {
    const double largest = largest_of(parameter.values);
    largest_parameter_ = std::max(largest_parameter_, largest);
    if (parameter.name.ends_with("bias")) {
      if (!layers_.empty()) layers_.back().bias = margin * largest;
      continue;
    }
    // [in, out], or [height, width, in, out] of a filter
    const Shape& shape = parameter.shape;
    const auto all = static_cast<double>(shape.elements());
    const auto in = static_cast<double>(shape[std::max(0, shape.rank() - 2)]);
    const auto out = static_cast<double>(shape[shape.rank() - 1]);
    layers_.push_back({.terms_forward = all / out,
                       .terms_backward = all / in,
                       .places = shape.rank() > 2 ? places : 1,
                       .weight = margin * largest,
                       .bias = 0});
  }
  propagate();
}

void Bounds::propagate() {
  double value = largest_input_;
  for (Layer& layer : layers_) {
    layer.input = value;
    value = layer.terms_forward * layer.weight * value + layer.bias;
  }
  output_ = std::max(value, 1.0);  // a sigmoid may follow
  double gradient = loss_degree_ == 1 ? 1 : 2 * (output_ + 1);
  for (std::size_t i = layers_.size(); i-- > 0;) {
    Layer& layer = layers_[i];
    layer.output_gradient = gradient;
    gradient = layer.terms_backward * layer.weight * gradient;
  }
}

template <typename T>
bool Bounds::can_hold(Index batch_size) const {
  constexpr double most = 1e-6 * std::numeric_limits<T>::max();  // rounding needs some room
  const auto rows = static_cast<double>(batch_size);
  const double outputs = layers_.empty() ? 1 : layers_.back().terms_backward;
  double largest = outputs * std::pow(output_ + 1, loss_degree_);
  for (const Layer& layer : layers_) {
    largest = std::max({largest, layer.places * layer.input * layer.output_gradient, layer.weight,
                        layer.output_gradient * layer.terms_backward * layer.weight});
  }
  return rows * largest < most;  // false for NaN
}

void Bounds::take_step(const Sgd& sgd) {
  for (Layer& layer : layers_) {
    double bias = layer.places * layer.output_gradient;
    double weight = layer.input * bias + sgd.l2 * layer.weight;
    if (sgd.rule == Rule::adam) {
      weight = bias = most_of_adam(sgd);
    } else if (sgd.rule == Rule::momentum) {  // a geometric series of gradients
      weight /= 1 - sgd.momentum;
      bias /= 1 - sgd.momentum;
    }
    layer.weight += sgd.learning_rate * weight;
    layer.bias += sgd.learning_rate * bias;
  }
  propagate();
}

template double largest_input<float>(const Dataset&);
template double largest_input<double>(const Dataset&);
template bool Bounds::can_hold<float>(Index) const;
template bool Bounds::can_hold<double>(Index) const;

}  // namespace stagewise
