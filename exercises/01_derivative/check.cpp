#include "check.hpp"

#include <utility>

#include EXERCISE_FILE

namespace exercise {
namespace {

using Vector = std::vector<double>;

Vector small_numbers(std::size_t count, unsigned seed, double factor) {
  Vector result;
  for (const float number : numbers(count, seed)) result.push_back(number * factor);
  return result;
}

/// A layer and a batch.
struct Layer {
  int rows, inputs, outputs;
  Vector x = small_numbers(rows * inputs, 1, 1);
  Vector w = small_numbers(inputs * outputs, 2, 0.5);
  Vector b = small_numbers(outputs, 3, 0.5);
  Vector c = small_numbers(rows * outputs, 4, 1);  ///< what the loss multiplies y by

  std::string sizes() const {
    return say("for ", rows, " rows, ", inputs, " inputs and ", outputs, " outputs");
  }

  Vector output() const {
    Vector y(rows * outputs);
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < outputs; ++j) {
        double z = b[j];
        for (int k = 0; k < inputs; ++k) z += x[i * inputs + k] * w[k * outputs + j];
        y[i * outputs + j] = 1 / (1 + std::exp(-z));
      }
    }
    return y;
  }

  /// The gradient of the loss with respect to the outputs.
  Vector output_gradient() const {
    Vector dy = output();
    for (std::size_t i = 0; i < dy.size(); ++i) dy[i] += c[i];
    return dy;
  }

  /// The sum of c y + y^2 / 2, over all outputs.
  double loss() const {
    const Vector y = output();
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += c[i] * y[i] + y[i] * y[i] / 2;
    return sum;
  }

  /// The derivative of the loss with respect to one of the numbers above.
  double difference(double& number) const {
    const double before = number;
    const double h = 1e-5;
    number = before + h;
    const double above = loss();
    number = before - h;
    const double below = loss();
    number = before;
    return (above - below) / (2 * h);
  }
};

bool are_close(const Vector& a, const Vector& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(std::abs(a[i] - b[i]) < 1e-6)) return false;
  }
  return true;
}

/// The three gradients.
struct Gradients {
  Vector dw, db, dx;
};

/// Gradients with one typical mistake, or none.
Gradients mistaken(const Layer& layer, const std::string& mistake) {
  const int rows = layer.rows;
  const int inputs = layer.inputs;
  const int outputs = layer.outputs;
  const Vector y = layer.output();
  const Vector dy = layer.output_gradient();
  Gradients result{Vector(layer.w.size()), Vector(layer.b.size()), Vector(layer.x.size())};
  for (int i = mistake == "last row" ? rows - 1 : 0; i < (mistake == "first row" ? 1 : rows); ++i) {
    for (int j = 0; j < outputs; ++j) {
      double dz = dy[i * outputs + j];
      if (mistake != "no sigmoid") dz *= y[i * outputs + j] * (1 - y[i * outputs + j]);
      if (mistake == "mean") dz /= rows;
      result.db[j] += dz;
      for (int k = 0; k < inputs; ++k) {
        const int weight = mistake == "transposed" ? j * inputs + k : k * outputs + j;
        result.dw[weight] += layer.x[i * inputs + k] * dz;
        result.dx[i * inputs + k] += layer.w[weight] * dz;
      }
    }
  }
  return result;
}

/// Ends the check if a gradient is not what the central differences say.
void expect_gradient(const std::string& name, const Vector& got, Layer& layer, Vector& variable,
                     int columns, const Vector Gradients::*member) {
  Vector expected;
  for (double& number : variable) expected.push_back(layer.difference(number));
  if (are_close(got, expected)) return;

  std::size_t at = 0;
  while (std::abs(got[at] - expected[at]) < 1e-6) ++at;
  const std::string element = name + place_of(at, columns);
  const std::string sizes = "F" + layer.sizes().substr(1);
  expect(!std::isnan(got[at]), sizes, ", ", element,
         " has not been set, or something was added to what was there before: it is not a number, "
         "and should be ",
         expected[at], ".");
  std::string reason;
  const std::pair<const char*, const char*> mistakes[] = {
      {"no sigmoid", "; that is what comes out without the factor y (1 - y) of the sigmoid"},
      {"last row", "; that is what only one of its rows, the last, contributes"},
      {"first row", "; that is what only one of its rows, the first, contributes"},
      {"mean", "; that is the mean over the rows instead of the sum"},
      {"transposed", name == "dx" ? "; that is what comes out if w is read as if it were transposed"
                                  : "; that is what comes out if dw is written as if transposed"}};
  for (const auto& [mistake, sentence] : mistakes) {
    if (reason.empty() && are_close(got, mistaken(layer, mistake).*member)) {
      reason = sentence;
    }
  }
  fail(sizes, ", ", element, " is ", got[at], ", but the central difference of the loss is ",
       expected[at], reason, ".");
}

/// Calls the learner's function for several sizes, and judges one of its gradients.
template <class Judge>
void for_each_size(const Judge& judge) {
  const int sizes[][3] = {{5, 4, 3}, {1, 1, 1}, {1, 3, 2}, {6, 1, 3}, {4, 5, 1}, {7, 6, 9}};
  for (const auto& [rows, inputs, outputs] : sizes) {
    Layer layer{rows, inputs, outputs};
    Gradients got{Vector(layer.w.size(), NAN), Vector(layer.b.size(), NAN),
                  Vector(layer.x.size(), NAN)};  // must be set
    current_case = layer.sizes();
    layer_backward(rows, inputs, outputs, layer.x, layer.w, layer.output(), layer.output_gradient(),
                   got.dw, got.db, got.dx);
    current_case = "";
    judge(layer, got);
  }
}

}  // namespace

void check() {
  for_each_size([](Layer& layer, const Gradients& got) {
    expect_gradient("dw", got.dw, layer, layer.w, layer.outputs, &Gradients::dw);
  });
  pass("dw, the gradient of the weights, is that of the central differences");
  for_each_size([](Layer& layer, const Gradients& got) {
    expect_gradient("db", got.db, layer, layer.b, 0, &Gradients::db);
  });
  pass("db, the gradient of the biases, is, too");
  for_each_size([](Layer& layer, const Gradients& got) {
    expect_gradient("dx", got.dx, layer, layer.x, layer.inputs, &Gradients::dx);
  });
  pass("dx, the gradient of the inputs, is, too");
}

}  // namespace exercise
