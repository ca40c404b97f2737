#include "cross_stage/primitives.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "01_serial/serial_executor.hpp"
#include "cross_stage/expect_computed.hpp"
#include "cross_stage/gpu_test.hpp"
#include "cross_stage/shapes.hpp"
#include "cross_stage/trial.hpp"
#include "support.hpp"

namespace stagewise {
namespace {

using namespace cross_stage;

/// A test of one kind of operation.
template <typename T>
class Primitives : public GpuTest {
 public:
  using Check = void (Primitives::*)();

  Primitives(ComparedStage<T> stage, Check check) : stage_(std::move(stage)), check_(check) {}

  /// The samples of a batch in an epoch's order, and of a shard of it.
  void batches() {
    constexpr std::size_t samples = 29;
    for (const bool are_images : {false, true}) {
      const Shape sample = are_images ? Shape{3, 4, 2} : Shape{24};
      std::vector<std::uint8_t> pixels;
      for (const double x : random_values<double>(samples * 24, 1, 0, 256)) {
        pixels.push_back(static_cast<std::uint8_t>(x));
      }
      const std::vector<std::int32_t> labels = random_labels(samples, 5, 2);
      const Dataset dataset = are_images ? Dataset(sample, 5, pixels, labels)
                                         : Dataset(sample, 5, random_values<double>(samples * 24, 3), labels);
      std::vector<std::uint32_t> order(samples);
      for (std::size_t i = 0; i < samples; ++i) {
        order[i] = static_cast<std::uint32_t>((i * 11 + 5) % samples);
      }

      for (const Part& part : parts) {
        Program program;
        Value features = {.name = "features", .shape = sample, .role = Role::data};
        Value classes = {.name = "labels", .role = Role::data, .type = Type::classes};
        Value all = {.name = "order", .role = Role::data, .type = Type::order, .is_batched = true};
        Gather gather = {.features = program.add(features), .labels = program.add(classes), .order = program.add(all)};
        const auto add_own = [&](Value value) {
          value.is_batched = true;
          value.part = part;
          return program.add(value);
        };
        all.memory_of = gather.order;
        if (part.count > 1) gather.order = add_own(all);
        gather.batch = add_own({.name = "batch", .shape = sample});
        gather.batch_labels = add_own({.name = "batch labels", .type = Type::classes});
        program.append(gather);
        const auto executor = stage_.make();
        executor->load(program, 20);
        executor->read_from(dataset, order);
        for (const Shard& run : {Shard{0, 20}, Shard{20, 9}, Shard{3, 1}}) {
          executor->execute(program, {.first = run.first, .rows = run.rows});
          const Shard own = shard_of(run.rows, part.count, part.index);
          const std::span<const std::uint32_t> which(order.data() + run.first + own.first,
                                                     static_cast<std::size_t>(own.rows));
          std::vector<T> actual(which.size() * 24);
          std::vector<T> wanted(which.size() * 24);
          std::vector<std::int32_t> actual_labels(which.size());
          std::vector<std::int32_t> wanted_labels(which.size());
          executor->copy_out(actual.data(), executor->data(gather.batch), actual.size() * sizeof(T));
          executor->copy_out(actual_labels.data(), executor->template data<std::int32_t>(gather.batch_labels),
                             which.size() * sizeof(std::int32_t));
          dataset.gather(which, wanted.data());
          dataset.gather_labels(which, wanted_labels.data());
          EXPECT_EQ(actual, wanted) << run.first << ", shard " << part.index;
          EXPECT_EQ(actual_labels, wanted_labels) << run.first << ", shard " << part.index;
        }
      }
    }
  }

  /// The samples are the rows of A; or, in the gradient of a weight, the sum goes over them.
  void products() {
    for (const Product& p : cross_stage::products) {
      for (const Transpose op_a : {Transpose::no, Transpose::yes}) {
        for (const Transpose op_b : {Transpose::no, Transpose::yes}) {
          if (p.m > 100'000 && op_a != op_b) continue;  // takes long
          const bool sums_over_samples = op_a == Transpose::yes;
          Trial<T> trial(sums_over_samples ? p.k : p.m);
          Gemm gemm{.op_a = op_a, .op_b = op_b};
          gemm.a = trial.batched({sums_over_samples ? p.m : p.k}, random_values<T>(p.m * p.k, 1));
          const std::vector<T> b = random_values<T>(p.k * p.n, 2, -1, 2);
          if (op_b == Transpose::yes) {
            gemm.b = trial.whole({p.n, p.k}, b);
          } else {
            gemm.b = sums_over_samples ? trial.batched({p.n}, b) : trial.whole({p.k, p.n}, b);
          }
          gemm.c = sums_over_samples ? trial.whole_output({p.m, p.n}) : trial.batched_output({p.n});
          trial.append(gemm);
          expect_same("gemm " + name_of(p) + (sums_over_samples ? " A^T" : "") + (op_b == Transpose::yes ? " B^T" : ""),
                      8 + 2 * std::sqrt(static_cast<double>(p.k)), trial);
        }
      }
    }
  }

  void sums_of_columns() {
    for (const auto [rows, cols] : sizes) {
      if (rows > 10'000) continue;  // in float, the order of so many additions shows
      Trial<T> trial(rows);
      const ValueId x = trial.batched({cols}, random_values<T>(rows * cols, 1, -1, 3));
      trial.append(ColumnSums{.x = x, .y = trial.whole_output({cols})});
      expect_same("column_sums " + std::to_string(rows) + "x" + std::to_string(cols),
                  4 + 2 * std::sqrt(static_cast<double>(rows)), trial);
    }
  }

  /// Sums with the first term first: to the last bit.
  void sums_and_means() {
    for (const Index n : lengths) {
      for (const std::uint64_t terms : {1, 2, 3, 8}) {
        Trial<T> of_samples(n);
        Sum sum;
        Trial<T> of_weights(1);
        Mean mean;
        for (std::uint64_t i = 0; i < terms; ++i) {
          sum.terms.emplace_back(of_samples.batched({}, random_values<T>(n, i, -1, 3)));
          mean.terms.emplace_back(of_weights.whole({n}, random_values<T>(n, i, 0.1, 3), Role::weight));
        }
        sum.sum = of_samples.batched_output({});
        of_samples.append(sum);
        expect_same("sum of " + std::to_string(terms), 0, of_samples);
        mean.mean = of_weights.whole_output({n});
        of_weights.append(mean);
        expect_same("mean of " + std::to_string(terms), 4, of_weights);
      }
    }
  }

  void copies() {
    for (const Index n : lengths) {
      Trial<T> trial(n);
      const ValueId x = trial.batched({}, random_values<T>(n, 1));
      const ValueId w = trial.whole({2, n}, random_values<T>(2 * n, 2), Role::weight);
      trial.append(Copy{.x = x, .y = trial.batched_output({})});
      trial.append(Copy{.x = w, .y = trial.whole_output({2, n})});
      expect_same("copy", 0, trial);
    }
  }

  void biases() {
    for (const auto [rows, cols] : sizes) {
      for (const bool in_place : {false, true}) {
        Trial<T> trial(rows);
        const ValueId x = trial.batched({cols}, random_values<T>(rows * cols, 1));
        const ValueId bias = trial.whole({cols}, random_values<T>(cols, 2));
        trial.append(
            AddBias{.x = x, .bias = bias, .y = in_place ? trial.in_memory_of(x) : trial.batched_output({cols})});
        expect_same(in_place ? "add_bias in place" : "add_bias", 1, trial);
      }
    }
  }

  /// Forward, and backward from other outputs.
  void activations() {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    const std::vector<T> special = {poison<T>(1)[0], infinity, -infinity, 0, T{-1e4}, T{1e4}};
    const auto stage = stage_.make();
    for (const Index n : lengths) {
      std::vector<T> x = random_values<T>(n, 1, -9, 6);
      if (n > 6) std::copy(special.begin(), special.end(), x.begin());
      for (const bool in_place : {false, true}) {
        for_each_activation([&]<Activation activation>() {
          if (!stage->computes(activation)) return;
          std::vector<T> y = random_values<T>(n, 1);
          serial::activate(activation, n, y.data(), y.data());
          Trial<T> trial(n);
          const auto output = [&](ValueId input) {
            return in_place ? trial.in_memory_of(input) : trial.batched_output({});
          };
          const ValueId input = trial.batched({}, x);
          trial.append(Activate<activation>{.x = input, .y = output(input)});
          ActivateBackward<activation> back;
          back.y = trial.batched({}, y);
          back.dy = trial.batched({}, random_values<T>(n, 3, -4, 3));
          back.dx = output(back.dy);
          trial.append(back);
          // Where it is not 0, stages have the library's functions.
          expect_same(std::string(names_of(activation).name) + (in_place ? " in place" : ""),
                      activation == Activation::relu ? 0 : 4, trial);
        });
      }
    }
  }

  /// The mean is over the whole batch, of which the rows may be a part.
  void losses() {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    for (const auto [rows, cols] : sizes) {
      if (rows * cols > 100'000) continue;
      const auto labels = random_labels(rows, std::max<Index>(cols, 2), 4);
      std::vector<T> logits = random_values<T>(rows * cols, 1, -30, 30);
      std::vector<T> outputs = random_values<T>(rows * cols, 2);
      if (rows > 4) {
        const auto row = [width = cols](std::vector<T>& values, Index i) { return values.begin() + i * width; };
        *row(logits, 0) = T{1e4};  // exp of it is infinite
        *row(logits, 1) = *row(outputs, 1) = std::numeric_limits<T>::quiet_NaN();
        *(row(logits, 3) - 1) = *(row(outputs, 3) - 1) = infinity;
        *row(logits, 3) = -infinity;
        std::fill_n(row(logits, 4), cols, -infinity);
      }

      Trial<T> entropy(rows);
      SoftmaxCrossEntropy forward;
      forward.logits = entropy.batched({cols}, logits);
      forward.labels = entropy.batched({}, labels);
      forward.probabilities = entropy.batched_output({cols});
      forward.row_losses = entropy.batched_output({});
      entropy.append(forward);
      entropy.append(SoftmaxCrossEntropyBackward{
          .probabilities = forward.probabilities, .labels = forward.labels, .dlogits = entropy.batched_output({cols})});
      Trial<T> squares(rows);
      SquaredError error;
      error.outputs = squares.batched({cols}, outputs);
      error.labels = squares.batched({}, labels);
      error.row_losses = squares.batched_output({});
      squares.append(error);
      squares.append(SquaredErrorBackward{
          .outputs = error.outputs, .labels = error.labels, .doutputs = squares.batched_output({cols})});

      const std::string size = std::to_string(rows) + "x" + std::to_string(cols);
      const double units = 16 + std::sqrt(static_cast<double>(cols));
      for (const Part& part : parts) {
        if (cols > 1) {
          expect_same("softmax_cross_entropy " + size, units, entropy.as(part));
        }
        expect_same("squared_error " + size, units, squares.as(part));
      }
    }
  }

  void predictions() {
    for (const auto [rows, cols] : sizes) {
      std::vector<T> x = random_values<T>(rows * cols, 1);
      for (T& value : x) value = std::round(value * 4) / 4;  // so that there are ties
      Trial<T> argmax(rows);
      const ValueId outputs = argmax.batched({cols}, x);
      argmax.append(ArgMax{.outputs = outputs, .classes = argmax.classes()});
      expect_same("argmax", 0, argmax);

      x.resize(static_cast<std::size_t>(rows));
      Trial<T> threshold(rows);
      const ValueId output = threshold.batched({1}, x);
      threshold.append(Threshold{.outputs = output, .classes = threshold.classes(), .threshold = 0.25});
      expect_same("threshold", 0, threshold);
    }
  }

  void totals_of_an_epoch() {
    for (const Index rows : {0, 1, 7, 64, 257, 1000}) {
      for (const bool bad : {false, true}) {
        std::vector<T> losses = random_values<T>(rows, 1, 0, 5);
        if (bad && rows > 0) losses.back() = std::numeric_limits<T>::infinity();
        Trial<T> trial(rows, rows == 0 ? last_shard : Part());
        Accumulate accumulate;
        accumulate.row_losses = trial.batched({}, losses);
        accumulate.classes = trial.batched({}, random_labels(rows, 3, 2));
        accumulate.labels = trial.batched({}, random_labels(rows, 3, 9));
        accumulate.totals = trial.whole({}, std::vector<Totals>(1), Role::total);
        trial.append(accumulate);
        const auto run = [&](Executor<T>& executor) {
          return std::get<std::vector<Totals>>(trial.run(executor, trial.program(), 3).back())[0];
        };
        SerialExecutor<T> serial;
        const Totals expected = run(serial);
        const Totals actual = run(*stage_.make());
        EXPECT_EQ(actual.correct, expected.correct);
        EXPECT_EQ(actual.first_bad_step, expected.first_bad_step);
        if (stage_.adds_in_order || bad) {
          EXPECT_EQ(actual.loss, expected.loss) << "stage 01's order of the rows";
        } else {
          EXPECT_NEAR(actual.loss, expected.loss, 1e-14 * expected.loss);
          EXPECT_EQ(run(*stage_.make()).loss, actual.loss) << "some order, but always the same";
        }
      }
    }
  }

  void convolutions() {
    for (const ConvolutionProblem& p : cross_stage::convolutions) {
      const auto terms = static_cast<double>(p.filter_height * p.filter_width * p.in);
      Trial<T> trial(p.batch);
      const ValueId input = add_images(trial, {p.height, p.width, p.in}, 1);
      const ValueId filter = add_filter(trial, p, 2);
      trial.append(Convolution{.input = input,
                               .filter = filter,
                               .output = trial.batched_output({p.output_height(), p.output_width(), p.out})});
      expect_same("convolution of " + name_of(p), 8 + 2 * std::sqrt(terms), trial);
    }
  }

  void convolutions_backward() {
    for (const ConvolutionProblem& p : cross_stage::convolutions) {
      const double units =
          8 + 2 * std::sqrt(static_cast<double>(std::max(p.output_pixels(), p.filter_height * p.filter_width * p.out)));
      for (const bool with_input : {true, false}) {
        Trial<T> trial(p.batch);
        ConvolutionBackward backward;
        backward.input = add_images(trial, {p.height, p.width, p.in}, 1);
        backward.filter = add_filter(trial, p, 2);
        backward.doutput = add_images(trial, {p.output_height(), p.output_width(), p.out}, 3);
        if (with_input) backward.dinput = trial.batched_output({p.height, p.width, p.in});
        backward.dfilter = trial.whole_output({p.filter_height, p.filter_width, p.in, p.out});
        trial.append(backward);
        expect_same((with_input ? "gradients of " : "filter's gradient of ") + name_of(p), units, trial);
      }
    }
  }

  void pooling() {
    for (const PoolingProblem& p : poolings) {
      const Shape image = {p.height, p.width, p.channels};
      const Shape pooled = {p.height / p.window, p.width / p.window, p.channels};
      Trial<T> trial(p.batch);
      const ValueId input = add_images(trial, image, 1);
      const ValueId doutput = add_images(trial, pooled, 2);
      trial.append(AveragePool{.input = input, .output = trial.batched_output(pooled), .window = p.window});
      trial.append(AveragePoolBackward{.doutput = doutput, .dinput = trial.batched_output(image), .window = p.window});
      expect_same("average_pool", 8, trial);
    }
  }

  /// A worker that has no samples takes no step, and its l2 does not either.
  void updates() {
    for (const Index n : lengths) {
      for (const double l2 : {0.0, 0.25}) {
        for (const Index rows : {1, 0}) {
          Trial<T> trial(rows);
          const ValueId gradient = trial.whole({n}, random_values<T>(n, 1, -2, 3), Role::gradient);
          const ValueId parameter = trial.whole({n}, random_values<T>(n, 2), Role::weight);
          trial.append(SgdUpdate{.gradient = gradient, .parameter = parameter, .learning_rate = 0.125, .l2 = l2});
          expect_same("sgd_update", 2, trial);

          Trial<T> others(rows);
          const auto real = [&](std::uint64_t seed, Role role) {
            return others.whole({n}, random_values<T>(n, seed, 0, 3), role);
          };
          const ValueId rates =
              others.whole({}, std::vector<StepRates>{{.rate = 0.125, .correction = 0.75}}, Role::total);
          others.append(MomentumUpdate{.gradient = real(1, Role::gradient),
                                       .rates = rates,
                                       .velocity = real(2, Role::state),
                                       .parameter = real(3, Role::weight),
                                       .momentum = 0.875,
                                       .l2 = l2});
          others.append(MomentumUpdate{.gradient = real(4, Role::gradient),
                                       .rates = rates,
                                       .parameter = real(5, Role::weight),
                                       .momentum = 0.875,
                                       .l2 = l2});
          others.append(AdamUpdate{.gradient = real(6, Role::gradient),
                                   .rates = rates,
                                   .first_moment = real(7, Role::state),
                                   .second_moment = real(8, Role::state),
                                   .parameter = real(9, Role::weight),
                                   .beta1 = 0.75,
                                   .beta2 = 0.9,
                                   .epsilon = 0.125,
                                   .l2 = l2});
          expect_same("momentum_update and adam_update", 8, others);
        }
      }
    }
  }

  static constexpr std::array checks = {std::pair{"Batches", &Primitives::batches},
                                        std::pair{"Products", &Primitives::products},
                                        std::pair{"SumsOfColumns", &Primitives::sums_of_columns},
                                        std::pair{"SumsAndMeans", &Primitives::sums_and_means},
                                        std::pair{"Copies", &Primitives::copies},
                                        std::pair{"Biases", &Primitives::biases},
                                        std::pair{"Activations", &Primitives::activations},
                                        std::pair{"Losses", &Primitives::losses},
                                        std::pair{"Predictions", &Primitives::predictions},
                                        std::pair{"TotalsOfAnEpoch", &Primitives::totals_of_an_epoch},
                                        std::pair{"Convolutions", &Primitives::convolutions},
                                        std::pair{"ConvolutionsBackward", &Primitives::convolutions_backward},
                                        std::pair{"Pooling", &Primitives::pooling},
                                        std::pair{"Updates", &Primitives::updates}};

 private:
  void TestBody() override { (this->*check_)(); }

  /// Executes the trial as stage 01 does and as this stage does, and expects the same in memory
  /// afterwards: within `units` units in the last place of a value's largest element.
  void expect_same(const std::string& what, double units, const Trial<T>& trial) {
    if (this->HasFatalFailure()) return;
    const Program program = stage_.rewrite ? stage_.rewrite(trial.program(), trial.batch_rows()) : trial.program();
    const auto run = [&] { return trial.run(*stage_.make(), program); };
    SerialExecutor<T> serial;
    const auto expected = trial.run(serial, trial.program());
    const auto actual = run();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (!trial.is_comparable({static_cast<int>(i)}, program)) continue;
      compare(what + ", value " + std::to_string(i), units, actual[i], expected[i], [&] { return run()[i]; });
      if (this->HasFatalFailure()) return;
    }
    if (trial.rows() > 0 || trial.part().count > 1) return;
    expect_same(what + ", of an empty shard", units, trial.as(last_shard));
  }

  template <typename Again>
  static void compare(const std::string& what, double units, const Contents<T>& actual, const Contents<T>& expected,
                      const Again& again) {
    using Reals = std::vector<T>;
    using Classes = std::vector<std::int32_t>;
    if (const Classes* const classes = std::get_if<Classes>(&expected)) {
      ASSERT_EQ(std::get<Classes>(actual), *classes) << what;
      return;
    }
    if (std::holds_alternative<std::vector<StepRates>>(expected)) return;  // only read
    const auto& wanted = std::get<Reals>(expected);
    double scale = 0;
    for (const T value : wanted) {
      if (std::isfinite(value)) scale = std::max<double>(scale, std::abs(value));
    }
    expect_computed<T>(what, std::get<Reals>(actual), wanted, {.columns = std::ssize(wanted)},
                       units * std::numeric_limits<T>::epsilon() * scale, [&] { return std::get<Reals>(again()); });
  }

  ComparedStage<T> stage_;
  Check check_;
};

}  // namespace

int register_primitives(const std::string& name, const ComparedStage<float>& in_float,
                        const ComparedStage<double>& in_double) {
  const auto add = [&]<typename T>(const std::string& precision, const ComparedStage<T>& stage) {
    for (const auto& [check, function] : Primitives<T>::checks) {
      testing::RegisterTest(
          (name + "/Primitives/" + precision).c_str(), check, nullptr, nullptr, __FILE__, __LINE__,
          [stage, function = function]() -> testing::Test* { return new Primitives<T>(stage, function); });
    }
  };
  add("float", in_float);
  add("double", in_double);
  return 0;
}

}  // namespace stagewise
