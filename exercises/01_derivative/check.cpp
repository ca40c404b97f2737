#include "check.hpp"

#include <cmath>
#include <limits>
#include <tuple>

#include EXERCISE_FILE

// Here, names such as count() are the check's, also if the learner's file has them.
namespace exercise {
namespace {

using Vector = std::vector<double>;

/// A layer and a batch.
struct Layer {
  int rows, inputs, outputs;
  Vector x, w, b;
  Vector c;  ///< what the loss multiplies y by

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

Vector small_numbers(std::size_t count, unsigned seed, double factor) {
  Vector result;
  for (const float number : numbers(count, seed)) result.push_back(number * factor);
  return result;
}

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
Gradients mistaken(const Layer& layer, const Vector& y, const Vector& dy,
                   const std::string& mistake) {
  const auto [rows, inputs, outputs] = std::tuple(layer.rows, layer.inputs, layer.outputs);
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
  const std::string element =
      name + "[" +
      (columns == 0 ? std::to_string(at)
                    : std::to_string(at / columns) + ", " + std::to_string(at % columns)) +
      "]";
  const std::string sizes = "For " + std::to_string(layer.rows) + " rows, " +
                            std::to_string(layer.inputs) + " inputs and " +
                            std::to_string(layer.outputs) + " outputs, ";
  if (std::isnan(got[at])) {
    fail(sizes + element +
         " has not been set, or something was added to what was there before: it is not a number, "
         "and should be " +
         text(expected[at]) + ".");
  }

  const Vector y = layer.output();
  Vector dy = layer.c;
  for (std::size_t i = 0; i < dy.size(); ++i) dy[i] += y[i];
  std::string reason;
  const std::pair<const char*, const char*> mistakes[] = {
      {"no sigmoid", "; that is what comes out without the factor y (1 - y) of the sigmoid"},
      {"last row", "; that is what only one of its rows, the last, contributes"},
      {"first row", "; that is what only one of its rows, the first, contributes"},
      {"mean", "; that is the mean over the rows instead of the sum"},
      {"transposed", name == "dx" ? "; that is what comes out if w is read as if it were transposed"
                                  : "; that is what comes out if dw is written as if transposed"}};
  for (const auto& [mistake, sentence] : mistakes) {
    if (reason.empty() && are_close(got, mistaken(layer, y, dy, mistake).*member)) {
      reason = sentence;
    }
  }
  fail(sizes + element + " is " + text(got[at]) + ", but the central difference of the loss is " +
       text(expected[at]) + reason + ".");
}

/// Calls the learner's function, whose gradients must set what they have.
Gradients gradients_of(const Layer& layer, const Vector& y, const Vector& dy) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Gradients got{Vector(layer.w.size(), nan), Vector(layer.b.size(), nan),
                Vector(layer.x.size(), nan)};
  const int rows = layer.rows;
  const int inputs = layer.inputs;
  const int outputs = layer.outputs;
  current_case() = "for " + std::to_string(rows) + " rows, " + std::to_string(inputs) +
                   " inputs and " + std::to_string(outputs) + " outputs";
  layer_backward(rows, inputs, outputs, layer.x, layer.w, y, dy, got.dw, got.db, got.dx);
  current_case() = "";
  return got;
}

void run() {
  const int sizes[][3] = {{5, 4, 3}, {1, 1, 1}, {1, 3, 2}, {6, 1, 3}, {4, 5, 1}, {7, 6, 9}};
  const auto for_each_size = [&](const auto& judge) {
    for (const auto& [rows, inputs, outputs] : sizes) {
      Layer layer{.rows = rows,
                  .inputs = inputs,
                  .outputs = outputs,
                  .x = small_numbers(rows * inputs, 1, 1),
                  .w = small_numbers(inputs * outputs, 2, 0.5),
                  .b = small_numbers(outputs, 3, 0.5),
                  .c = small_numbers(rows * outputs, 4, 1)};
      const Vector y = layer.output();
      Vector dy = layer.c;
      for (std::size_t i = 0; i < dy.size(); ++i) dy[i] += y[i];
      judge(layer, gradients_of(layer, y, dy));
    }
  };
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

}  // namespace
}  // namespace exercise

void check() {
  exercise::run();
}
