#include "check.hpp"

#include EXERCISE_FILE

// Names of the learner's, such as rank(), are hidden here by those of the check.
namespace exercise {
namespace {

constexpr int inputs = 8;
constexpr int hidden = 16;
constexpr int outputs = 3;

struct Network {
  std::vector<float> w1 = scaled(inputs * hidden, 3);
  std::vector<float> b1 = scaled(hidden, 4);
  std::vector<float> w2 = scaled(hidden * outputs, 5);
  std::vector<float> b2 = scaled(outputs, 6);

  static std::vector<float> scaled(int count, unsigned seed) {
    std::vector<float> result = numbers(count, seed);
    for (float& number : result) number /= 4;
    return result;
  }
};

/// The same training, in double.
Network trained(int rows, int steps, double rate, const std::vector<float>& x,
                const std::vector<float>& target) {
  const Network start;
  using Doubles = std::vector<double>;
  Doubles w1(start.w1.begin(), start.w1.end());
  Doubles b1(start.b1.begin(), start.b1.end());
  Doubles w2(start.w2.begin(), start.w2.end());
  Doubles b2(start.b2.begin(), start.b2.end());
  for (int step = 0; step < steps; ++step) {
    Doubles dw1(w1.size());
    Doubles db1(b1.size());
    Doubles dw2(w2.size());
    Doubles db2(b2.size());
    for (int i = 0; i < rows; ++i) {
      Doubles h = b1;
      Doubles dy = b2;
      for (int j = 0; j < hidden; ++j) {
        for (int k = 0; k < inputs; ++k) h[j] += x[i * inputs + k] * w1[k * hidden + j];
        h[j] = std::max(0.0, h[j]);
      }
      for (int o = 0; o < outputs; ++o) {
        for (int j = 0; j < hidden; ++j) dy[o] += h[j] * w2[j * outputs + o];
        dy[o] = (dy[o] - target[i * outputs + o]) / rows;
        db2[o] += dy[o];
        for (int j = 0; j < hidden; ++j) dw2[j * outputs + o] += h[j] * dy[o];
      }
      for (int j = 0; j < hidden; ++j) {
        double dh = 0;
        for (int o = 0; o < outputs; ++o) dh += dy[o] * w2[j * outputs + o];
        if (h[j] <= 0) continue;
        db1[j] += dh;
        for (int k = 0; k < inputs; ++k) dw1[k * hidden + j] += x[i * inputs + k] * dh;
      }
    }
    const auto update = [rate](Doubles& values, const Doubles& gradient) {
      for (std::size_t i = 0; i < values.size(); ++i) values[i] -= rate * gradient[i];
    };
    update(w1, dw1);
    update(b1, db1);
    update(w2, dw2);
    update(b2, db2);
  }
  Network result;
  result.w1.assign(w1.begin(), w1.end());
  result.b1.assign(b1.begin(), b1.end());
  result.w2.assign(w2.begin(), w2.end());
  result.b2.assign(b2.begin(), b2.end());
  return result;
}

void check_training(int rows, int steps) {
  const float rate = 0.125F;
  const std::vector<float> x = numbers(rows * inputs, 1);
  const std::vector<float> target = numbers(rows * outputs, 2);
  const std::string what = "After " + std::to_string(steps) + (steps == 1 ? " step" : " steps") +
                           " with " + std::to_string(rows) + (rows == 1 ? " row" : " rows");
  Network network;
  ::train(rows, steps, rate, x.data(), target.data(), network.w1.data(), network.b1.data(),
          network.w2.data(), network.b2.data());
  expect_no_error(what);
  const Network expected = trained(rows, steps, rate, x, target);
  expect_equal(network.b2, expected.b2, what + ", in b2", 0, 1e-4);
  expect_equal(network.w2, expected.w2, what + ", in w2", outputs, 1e-4);
  expect_equal(network.b1, expected.b1, what + ", in b1", 0, 1e-4);
  expect_equal(network.w1, expected.w1, what + ", in w1", hidden, 1e-4);
}

void check_counts(int rows, int steps) {
  count([&] { check_training(rows, steps); },
        [&](const Counts& counts) {
          expect(counts.launches >= steps, "A training of " + std::to_string(steps) +
                                               " steps launches " + text(counts.launches) +
                                               " kernels: let kernels do every step.");
          expect(counts.copies <= 16,
                 "A training makes " + text(counts.copies) + " copies and fills of memory in " +
                     std::to_string(steps) +
                     " steps; 16 are enough if the data stay on the GPU between steps.");
          expect_threads(counts, "For 17 rows", 17, "which share the work");
        });
}

void check_all() {
  for (const int rows : {1, 5, 33}) check_training(rows, 1);
  pass("the parameters are right after a step");
  for (const int rows : {1, 5, 33}) check_training(rows, 4);
  pass("the parameters are right after several steps");
  check_counts(17, 6);
  pass_counted("the data stay on the GPU between steps");
}

}  // namespace
}  // namespace exercise

void check() {
  exercise::check_all();
}
