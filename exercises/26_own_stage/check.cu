#include <algorithm>

#include "check_cuda.hpp"

#include EXERCISE_FILE

namespace exercise {
namespace {

constexpr int inputs = 8;
constexpr int hidden = 16;
constexpr int outputs = 3;

/// The weights and biases of two layers.
template <class T>
struct Network {
  std::vector<T> w1 = scaled(inputs * hidden, 3);
  std::vector<T> b1 = scaled(hidden, 4);
  std::vector<T> w2 = scaled(hidden * outputs, 5);
  std::vector<T> b2 = scaled(outputs, 6);

  static std::vector<T> scaled(int count, unsigned seed) {
    std::vector<T> result;
    for (const float number : numbers(count, seed)) result.push_back(number / 4);
    return result;
  }
};

/// The same training, in double.
Network<double> trained(int rows, int steps, double rate, const std::vector<float>& x,
                        const std::vector<float>& target) {
  Network<double> result;
  auto& [w1, b1, w2, b2] = result;
  for (int step = 0; step < steps; ++step) {
    const Network<double> before = result;
    for (int i = 0; i < rows; ++i) {
      std::vector<double> h = before.b1;
      std::vector<double> dh(hidden);
      for (int j = 0; j < hidden; ++j) {
        for (int k = 0; k < inputs; ++k) h[j] += x[i * inputs + k] * before.w1[k * hidden + j];
        h[j] = std::max(0.0, h[j]);
      }
      for (int o = 0; o < outputs; ++o) {
        double y = before.b2[o];
        for (int j = 0; j < hidden; ++j) y += h[j] * before.w2[j * outputs + o];
        const double dy = (y - target[i * outputs + o]) / rows;
        b2[o] -= rate * dy;
        for (int j = 0; j < hidden; ++j) {
          w2[j * outputs + o] -= rate * h[j] * dy;
          dh[j] += dy * before.w2[j * outputs + o];
        }
      }
      for (int j = 0; j < hidden; ++j) {
        if (h[j] <= 0) continue;
        b1[j] -= rate * dh[j];
        for (int k = 0; k < inputs; ++k) w1[k * hidden + j] -= rate * x[i * inputs + k] * dh[j];
      }
    }
  }
  return result;
}

/// Compares parameters with those in double.
void expect_near(const std::vector<float>& got, const std::vector<double>& expected,
                 const std::string& what, std::size_t columns = 0) {
  expect_equal(got, {expected.begin(), expected.end()}, what, columns, 1e-4);
}

void check_training(int rows, int steps) {
  const float rate = 0.125F;
  const std::vector<float> x = numbers(rows * inputs, 1);
  const std::vector<float> target = numbers(rows * outputs, 2);
  const std::string what = say("After ", several(steps, "step"), " with ", several(rows, "row"));
  Network<float> network;
  ::train(rows, steps, rate, x.data(), target.data(), network.w1.data(), network.b1.data(),
          network.w2.data(), network.b2.data());
  expect_no_error(what);
  const Network<double> expected = trained(rows, steps, rate, x, target);
  expect_near(network.b2, expected.b2, what + ", in b2");
  expect_near(network.w2, expected.w2, what + ", in w2", outputs);
  expect_near(network.b1, expected.b1, what + ", in b1");
  expect_near(network.w1, expected.w1, what + ", in w1", hidden);
}

}  // namespace

void check() {
  for (const int rows : {1, 5, 33}) check_training(rows, 1);
  pass("the parameters are right after a step");
  for (const int rows : {1, 5, 33}) check_training(rows, 4);
  pass("the parameters are right after several steps");
  count([] { check_training(17, 6); },
        [](const Counts& counts) {
          expect(counts.launches >= 6, "A training of 6 steps launches ", counts.launches,
                 " kernels: let kernels do every step.");
          expect(counts.copies <= 16, "A training makes ", counts.copies,
                 " copies and fills of memory in 6 steps; 16 are enough if the data stay on the "
                 "GPU between steps.");
          expect_threads(counts, "For 17 rows", 17, "which share the work");
        });
  pass_counted("the data stay on the GPU between steps");
}

}  // namespace exercise
