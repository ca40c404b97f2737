#include "network/initialize.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <span>

#include "tensor/random.hpp"

namespace stagewise {
namespace {

/// Length of the weights into an output of a network that starts paired. Few units would need large
/// weights for it, and a step would throw them about; so weights of 0.5 each are the most.
/// @param units in the last hidden layer.
double output_length(Index units) { return std::min(4.0, std::sqrt(static_cast<double>(units)) / 2); }

/// A matrix on the host, row-major.
struct Matrix {
  Index rows;
  Index cols;
  std::vector<double> values = std::vector<double>(static_cast<std::size_t>(rows * cols), 0.0);

  double& operator()(Index i, Index j) { return values[static_cast<std::size_t>(i * cols + j)]; }
};

/// Vectors of length 1, as many as `count`, in random directions; each group of up to 128, and up
/// to `length`, of them is mutually orthogonal (Gram and Schmidt).
/// @return [count, length], a vector a row.
Matrix orthonormal_rows(Index count, Index length, Random random) {
  const Index group = std::min<Index>(length, 128);
  Matrix q{count, length};
  const auto row = [&](Index i) { return std::span(&q(i, 0), static_cast<std::size_t>(length)); };
  const auto dot = [](std::span<const double> x, std::span<const double> y) {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
  };
  for (Index i = 0; i < count; ++i) {
    for (double& value : row(i)) value = random.normal();
    for (Index k = i - i % group; k < i; ++k) {
      const double overlap = dot(row(i), row(k));
      for (Index j = 0; j < length; ++j) q(i, j) -= overlap * q(k, j);
    }
    const double norm = std::sqrt(dot(row(i), row(i)));
    for (double& value : row(i)) value /= norm;
  }
  return q;
}

/// Uniform in +-limit.
Matrix uniform(Index rows, Index cols, double limit, Random random) {
  Matrix weight{rows, cols};
  for (double& value : weight.values) value = random.uniform(-limit, limit);
  return weight;
}

/// Lets the weights into every unit sum to 0. What a cnn's layers see is positive and mostly the
/// same everywhere; such weights answer to what differs.
void centre(Matrix& weight) {
  for (Index j = 0; j < weight.cols; ++j) {
    double sum = 0;
    for (Index i = 0; i < weight.rows; ++i) sum += weight(i, j);
    for (Index i = 0; i < weight.rows; ++i) weight(i, j) -= sum / static_cast<double>(weight.rows);
  }
}

//! [paired]
/// The last hidden layer: units u and u + out/2 start as twins, with the same incoming weights, of
/// length sqrt(2) and orthogonal to those of other units. An odd unit out has no twin.
Matrix paired_hidden_weight(Index in, Index out, Random random) {
  const Index pairs = out / 2;
  Matrix directions = orthonormal_rows(out - pairs, in, random);
  Matrix weight{in, out};
  for (Index i = 0; i < in; ++i) {
    for (Index u = 0; u < out; ++u) {
      const Index twin = u < 2 * pairs ? u % pairs : pairs;
      weight(i, u) = std::numbers::sqrt2 * directions(twin, i);
    }
  }
  return weight;
}

/// The output layer behind it: twins have opposite outgoing weights, so that together they add
/// nothing yet, whatever the input; an odd unit out has none. The weights into each output have the
/// given length.
Matrix paired_output_weight(Index in, Index out, double length, Random random) {
  const Index pairs = in / 2;
  Matrix directions = orthonormal_rows(out, pairs, random);
  Matrix weight{in, out};
  for (Index u = 0; u < pairs; ++u) {
    for (Index j = 0; j < out; ++j) {
      weight(u, j) = length / std::numbers::sqrt2 * directions(j, u);
      weight(u + pairs, j) = -weight(u, j);
    }
  }
  return weight;
}
//! [paired]

}  // namespace

bool starts_paired(const ModelOptions& options) {
  if (options.name == "cnn") return options.loss == LossKind::cross_entropy;
  return options.name == "mlp" && options.activation == Activation::relu && options.loss == LossKind::cross_entropy &&
         !options.hidden.empty() && options.hidden.back() >= 2;
}

std::vector<ParameterValues> initial_parameters(const Model& model, const ModelOptions& options, std::uint64_t seed,
                                                std::uint64_t worker) {
  std::vector<ValueId> weights;
  for (const ValueId parameter : model.parameters) {
    if (model[parameter].role == Role::weight) weights.push_back(parameter);
  }
  const ValueId output = weights.back();
  const ValueId last_hidden = weights.size() > 1 ? weights[weights.size() - 2] : ValueId();

  std::vector<ParameterValues> result;
  for (std::size_t i = 0; i < model.parameters.size(); ++i) {
    const ValueId parameter = model.parameters[i];
    const Shape& shape = model[parameter].shape;
    const Index out = shape[shape.rank() - 1];
    const Index in = shape.elements() / out;
    const Random random(seed, Purpose::parameters, i, worker);
    const auto limit = [](Index connections) { return std::sqrt(6.0 / static_cast<double>(connections)); };

    Matrix start{in, out};
    if (model[parameter].role == Role::bias) {
      // stays at 0
    } else if (starts_paired(options) && parameter == output) {
      start = paired_output_weight(in, out, output_length(in), random);
    } else if (starts_paired(options) && parameter == last_hidden) {
      start = paired_hidden_weight(in, out, random);
    } else if (options.activation == Activation::relu && parameter != output) {
      start = uniform(in, out, limit(in), random);
    } else {
      start = uniform(in, out, limit(in + out), random);
    }
    if (options.name == "cnn" && parameter != output) centre(start);
    result.push_back({.name = model[parameter].name, .shape = shape, .values = std::move(start.values)});
  }
  return result;
}

}  // namespace stagewise
