/// @file
/// Every primitive of a stage against stage 01's loops, on shapes that do not fit any block: 1,
/// primes, more rows than a grid has, transposed, with alpha and beta, into outputs full of NaN.
///
/// A stage's test includes this file, derives a maker of its backend and instantiates the suite:
///
///     struct Maker {
///       static constexpr bool adds_in_order = true;  // whether sums are taken as stage 01 takes
///       them template <typename T> static std::unique_ptr<Backend<T>> make();
///     };
///     INSTANTIATE_TYPED_TEST_SUITE_P(Stage02, Primitives, StageTypes<Maker>, StageNames);
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "01_serial/serial_backend.hpp"
#include "cross_stage/device_array.hpp"
#include "cross_stage/expect_computed.hpp"
#include "cross_stage/stage_types.hpp"
#include "support.hpp"

namespace stagewise {

template <typename S>
class Primitives : public testing::Test {
 protected:
  using Element = typename S::T;

  void SetUp() override {
    if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
    backend_ = S::Maker::template make<Element>();
  }

  /// Calls `work(backend, pointers...)` on both backends with copies of the arrays, and expects the
  /// same in each array afterwards: within `units` units in the last place of the largest element.
  template <typename Work, typename... Arrays>
  void expect_same(const std::string& what, double units, const Work& work,
                   const Arrays&... arrays) {
    const auto run = [&](Backend<Element>& backend) {
      auto there = std::make_tuple(DeviceArray(backend, arrays)...);
      std::apply([&](auto&... array) { work(backend, array.get()...); }, there);
      return std::apply([&](auto&... array) { return std::make_tuple(array.read(backend)...); },
                        there);
    };
    const auto expected = run(serial_);
    const auto actual = run(*backend_);
    compare(
        what, units, actual, expected, [&] { return run(*backend_); },
        std::index_sequence_for<Arrays...>{});
  }

  Backend<Element>& backend() { return *backend_; }

 private:
  template <typename Tuple, typename Again, std::size_t... I>
  void compare(const std::string& what, double units, const Tuple& actual, const Tuple& expected,
               const Again& again, std::index_sequence<I...> /*arrays*/) {
    (compare_one(what + ", array " + std::to_string(I), units, std::get<I>(actual),
                 std::get<I>(expected), [&] { return std::get<I>(again()); }),
     ...);
  }

  template <typename U, typename Again>
  void compare_one(const std::string& what, double units, const std::vector<U>& actual,
                   const std::vector<U>& expected, const Again& again) {
    if constexpr (!std::is_floating_point_v<U>) {
      ASSERT_EQ(actual, expected) << what;
    } else {
      double scale = 0;
      for (const U value : expected) {
        if (std::isfinite(value)) scale = std::max<double>(scale, std::abs(value));
      }
      const double bound = units * std::numeric_limits<Element>::epsilon() * scale;
      expect_computed<U>(what, actual, expected, {.columns = static_cast<Index>(expected.size())},
                         bound, again);
    }
  }

  SerialBackend<Element> serial_;
  std::unique_ptr<Backend<Element>> backend_;
};

TYPED_TEST_SUITE_P(Primitives);

namespace cross_stage {

struct Size {
  Index rows;
  Index cols;
};

/// Around the sizes of warps and blocks, and past the 65,535 blocks of a grid's y.
inline const std::vector<Size> sizes = {{1, 1},    {1, 7},    {7, 1},    {3, 5},       {13, 17},
                                        {31, 33},  {64, 32},  {5, 1031}, {257, 3},     {1, 256},
                                        {127, 65}, {600, 10}, {0, 3},    {600'001, 1}, {1, 70'001}};
inline const std::vector<Index> lengths = {0, 1, 2, 7, 31, 64, 255, 256, 257, 1009, 66'000};

struct Product {
  Index m;
  Index n;
  Index k;
};

inline const std::vector<Product> products = {
    {1, 1, 1},         {1, 7, 3},    {7, 1, 5},     {3, 5, 1},     {17, 19, 23}, {33, 65, 31},
    {64, 64, 64},      {5, 130, 67}, {129, 3, 130}, {40, 10, 784}, {2, 1, 1009}, {16, 16, 17},
    {1'100'000, 1, 2}, {3, 4, 0},    {0, 3, 2},     {3, 0, 2}};

inline std::string name_of(const Product& p) {
  return std::to_string(p.m) + "x" + std::to_string(p.n) + "x" + std::to_string(p.k);
}

inline const std::vector<ConvolutionProblem> convolutions = {
    // batch, height, width, in, filter height, filter width, out
    {1, 1, 1, 1, 1, 1, 1},   {3, 4, 7, 3, 1, 1, 1},    {1, 7, 4, 1, 1, 3, 3},
    {3, 5, 8, 1, 2, 3, 1},   {3, 8, 5, 3, 4, 2, 17},   {1, 6, 9, 17, 3, 5, 3},
    {3, 4, 6, 17, 3, 1, 16}, {1, 9, 3, 3, 9, 3, 33},   {5, 8, 5, 1, 3, 3, 17},
    {3, 6, 7, 17, 5, 5, 17}, {2, 28, 28, 1, 5, 5, 32}, {2, 12, 12, 32, 5, 5, 64}};

inline std::string name_of(const ConvolutionProblem& p) {
  return std::to_string(p.batch) + " images " + std::to_string(p.height) + "x" +
         std::to_string(p.width) + "x" + std::to_string(p.in) + ", filter " +
         std::to_string(p.filter_height) + "x" + std::to_string(p.filter_width) + "x" +
         std::to_string(p.in) + "x" + std::to_string(p.out);
}

inline const std::vector<PoolingProblem> poolings = {
    // batch, height, width, channels, window
    {1, 1, 1, 1, 1},
    {3, 4, 6, 1, 2},
    {2, 6, 9, 5, 3},
    {5, 8, 4, 33, 4},
    {2, 24, 24, 32, 2}};

}  // namespace cross_stage

TYPED_TEST_P(Primitives, Fill) {
  using T = typename TypeParam::T;
  for (const Index n : cross_stage::lengths) {
    this->expect_same(
        "fill " + std::to_string(n), 0,
        [&](Backend<T>& backend, T* x) { backend.fill(n, T{-2.5}, x); }, poison<T>(n + 1));
  }
}

TYPED_TEST_P(Primitives, Gemm) {
  using T = typename TypeParam::T;
  struct Factors {
    T alpha;
    T beta;
  };
  for (const cross_stage::Product& p : cross_stage::products) {
    for (const Transpose op_a : {Transpose::no, Transpose::yes}) {
      for (const Transpose op_b : {Transpose::no, Transpose::yes}) {
        for (const Factors factors :
             {Factors{1, 0}, Factors{T{0.75}, T{-1.25}}, Factors{0, T{0.5}}}) {
          if (p.m > 100'000 && op_a != op_b) continue;  // takes long
          const std::string what =
              "gemm " + cross_stage::name_of(p) + (op_a == Transpose::yes ? " A^T" : "") +
              (op_b == Transpose::yes ? " B^T" : "") + ", alpha " + std::to_string(factors.alpha) +
              ", beta " + std::to_string(factors.beta);
          const std::vector<T> c =
              factors.beta == 0 ? poison<T>(p.m * p.n) : random_values<T>(p.m * p.n, 3);
          this->expect_same(
              what, 8 + 2 * std::sqrt(static_cast<double>(p.k)),
              [&](Backend<T>& backend, const T* left, const T* right, T* out) {
                backend.gemm({.op_a = op_a,
                              .op_b = op_b,
                              .m = p.m,
                              .n = p.n,
                              .k = p.k,
                              .alpha = factors.alpha,
                              .a = left,
                              .b = right,
                              .beta = factors.beta,
                              .c = out});
              },
              random_values<T>(p.m * p.k, 1), random_values<T>(p.k * p.n, 2, -1, 2), c);
          if (this->HasFatalFailure()) return;
        }
      }
    }
  }
}

TYPED_TEST_P(Primitives, Transpose) {
  using T = typename TypeParam::T;
  for (const auto [rows, cols] : cross_stage::sizes) {
    this->expect_same(
        "transpose " + std::to_string(rows) + "x" + std::to_string(cols), 0,
        [rows = rows, cols = cols](Backend<T>& backend, const T* x, T* y) {
          backend.transpose(rows, cols, x, y);
        },
        random_values<T>(rows * cols, 1), poison<T>(rows * cols + 1));
  }
}

TYPED_TEST_P(Primitives, Sum) {
  using T = typename TypeParam::T;
  for (const Index n : cross_stage::lengths) {
    // Stage 01 adds in double, one after the other: accurate for float, and not quite for double.
    // Who adds in another order than it does is off by its error.
    const bool is_accurate = std::is_same_v<T, float> || TypeParam::Maker::adds_in_order;
    const double units = is_accurate ? 4 : 4 + 2 * std::sqrt(static_cast<double>(n));
    this->expect_same(
        "sum " + std::to_string(n), units,
        [&](Backend<T>& backend, const T* x, T* out) { backend.sum(n, x, out); },
        random_values<T>(n, 1, -1, 3), poison<T>(2));
  }
}

TYPED_TEST_P(Primitives, SumRows) {
  using T = typename TypeParam::T;
  for (const auto [rows, cols] : cross_stage::sizes) {
    if (rows > 10'000) continue;  // in float, the order of so many additions shows
    this->expect_same(
        "sum_rows " + std::to_string(rows) + "x" + std::to_string(cols),
        4 + 2 * std::sqrt(static_cast<double>(rows)),
        [rows = rows, cols = cols](Backend<T>& backend, const T* x, T* out) {
          backend.sum_rows(rows, cols, x, out);
        },
        random_values<T>(rows * cols, 1, -1, 3), poison<T>(cols + 1));
  }
}

TYPED_TEST_P(Primitives, AddBias) {
  using T = typename TypeParam::T;
  for (const auto [rows, cols] : cross_stage::sizes) {
    const auto apart = [rows = rows, cols = cols](Backend<T>& backend, const T* x, const T* bias,
                                                  T* y) {
      backend.add_bias(rows, cols, x, bias, y);
    };
    const auto in_place = [rows = rows, cols = cols](Backend<T>& backend, T* x, const T* bias) {
      backend.add_bias(rows, cols, x, bias, x);
    };
    const auto x = random_values<T>(rows * cols, 1);
    const auto bias = random_values<T>(cols, 2);
    this->expect_same("add_bias", 1, apart, x, bias, poison<T>(rows * cols + 1));
    this->expect_same("add_bias in place", 1, in_place, x, bias);
  }
}

TYPED_TEST_P(Primitives, Activations) {
  using T = typename TypeParam::T;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const T infinity = std::numeric_limits<T>::infinity();
  for (const Index n : cross_stage::lengths) {
    std::vector<T> x = random_values<T>(n, 1, -9, 6);
    if (n > 6) {
      x[0] = nan;
      x[1] = infinity;
      x[2] = -infinity;
      x[3] = 0;
      x[4] = T{-1e4};
      x[5] = T{1e4};
    }
    const auto relu = [&](Backend<T>& backend, const T* in, T* out) { backend.relu(n, in, out); };
    const auto sigmoid = [&](Backend<T>& backend, const T* in, T* out) {
      backend.sigmoid(n, in, out);
    };
    const auto both_in_place = [&](Backend<T>& backend, T* relus, T* sigmoids) {
      backend.relu(n, relus, relus);
      backend.sigmoid(n, sigmoids, sigmoids);
    };
    this->expect_same("relu", 0, relu, x, poison<T>(n + 1));
    this->expect_same("sigmoid", 4, sigmoid, x, poison<T>(n + 1));
    this->expect_same("in place", 4, both_in_place, x, x);
  }
}

TYPED_TEST_P(Primitives, ActivationsBackward) {
  using T = typename TypeParam::T;
  for (const Index n : cross_stage::lengths) {
    std::vector<T> y = random_values<T>(n, 1);
    for (T& value : y) value = std::max(value, T{0});
    const std::vector<T> s = random_values<T>(n, 2, 0, 1);
    const std::vector<T> dy = random_values<T>(n, 3, -4, 3);
    const auto relu = [&](Backend<T>& backend, const T* out, const T* gradient, T* dx) {
      backend.relu_backward(n, out, gradient, dx);
    };
    const auto sigmoid = [&](Backend<T>& backend, const T* out, const T* gradient, T* dx) {
      backend.sigmoid_backward(n, out, gradient, dx);
    };
    const auto in_place = [&](Backend<T>& backend, const T* relus, const T* sigmoids, T* dx) {
      backend.relu_backward(n, relus, dx, dx);
      backend.sigmoid_backward(n, sigmoids, dx, dx);
    };
    this->expect_same("relu_backward", 0, relu, y, dy, poison<T>(n + 1));
    this->expect_same("sigmoid_backward", 4, sigmoid, s, dy, poison<T>(n + 1));
    this->expect_same("in place", 4, in_place, y, s, dy);
  }
}

TYPED_TEST_P(Primitives, Losses) {
  using T = typename TypeParam::T;
  for (const auto [rows, cols] : cross_stage::sizes) {
    if (rows * cols > 100'000) continue;
    const auto labels = random_labels(rows, std::max<Index>(cols, 2), 4);
    const auto entropy = [rows = rows, cols = cols](Backend<T>& backend, const T* logits,
                                                    const std::int32_t* label, T* probabilities,
                                                    T* losses, T* gradient) {
      backend.softmax_cross_entropy(rows, cols, logits, label, probabilities, losses);
      backend.softmax_cross_entropy_backward(rows, cols, probabilities, label, gradient);
    };
    const auto squares = [rows = rows, cols = cols](Backend<T>& backend, const T* outputs,
                                                    const std::int32_t* label, T* losses,
                                                    T* gradient) {
      backend.squared_error(rows, cols, outputs, label, losses);
      backend.squared_error_backward(rows, cols, outputs, label, gradient);
    };
    const std::string size = std::to_string(rows) + "x" + std::to_string(cols);
    const double units = 16 + std::sqrt(static_cast<double>(cols));
    std::vector<T> logits = random_values<T>(rows * cols, 1, -30, 30);
    if (rows > 2) logits[0] = T{1e4};  // exp of it is infinite
    if (cols > 1) {
      this->expect_same("softmax_cross_entropy " + size, units, entropy, logits, labels,
                        poison<T>(rows * cols + 1), poison<T>(rows + 1),
                        poison<T>(rows * cols + 1));
    }
    this->expect_same("squared_error " + size, units, squares, random_values<T>(rows * cols, 2),
                      labels, poison<T>(rows + 1), poison<T>(rows * cols + 1));
  }
}

TYPED_TEST_P(Primitives, Predictions) {
  using T = typename TypeParam::T;
  for (const auto [rows, cols] : cross_stage::sizes) {
    std::vector<T> x = random_values<T>(rows * cols, 1);
    for (T& value : x) value = std::round(value * 4) / 4;  // so that there are ties
    const std::vector<std::int32_t> out(static_cast<std::size_t>(rows + 1), -7);
    const auto argmax = [rows = rows, cols = cols](Backend<T>& backend, const T* values,
                                                   std::int32_t* classes) {
      backend.argmax(rows, cols, values, classes);
    };
    const auto threshold = [rows = rows](Backend<T>& backend, const T* values,
                                         std::int32_t* classes) {
      backend.threshold(rows, T{0.25}, values, classes);
    };
    this->expect_same("argmax", 0, argmax, x, out);
    this->expect_same("threshold", 0, threshold, x, out);
  }
}

TYPED_TEST_P(Primitives, Accumulate) {
  using T = typename TypeParam::T;
  for (const Index rows : {1, 7, 64, 257, 1000}) {
    for (const bool bad : {false, true}) {
      std::vector<T> losses = random_values<T>(rows, 1, 0, 5);
      if (bad) losses.back() = std::numeric_limits<T>::infinity();
      SerialBackend<T> serial;
      const auto run = [&](Backend<T>& backend) {
        DeviceArray values(backend, losses);
        DeviceArray predictions(backend, random_labels(rows, 3, 2));
        DeviceArray labels(backend, random_labels(rows, 3, 9));
        DeviceArray totals(backend, std::vector<Totals>(1));
        for (std::int64_t step = 1; step <= 3; ++step) {
          backend.accumulate(rows, values.get(), predictions.get(), labels.get(), step,
                             totals.get());
        }
        return totals.read(backend).front();
      };
      const Totals expected = run(serial);
      const Totals actual = run(this->backend());
      EXPECT_EQ(actual.correct, expected.correct);
      EXPECT_EQ(actual.first_bad_step, expected.first_bad_step);
      if constexpr (TypeParam::Maker::adds_in_order) {
        EXPECT_EQ(actual.loss, expected.loss) << "stage 01's order of the rows";
      } else if (bad) {
        EXPECT_EQ(actual.loss, expected.loss);
      } else {
        EXPECT_NEAR(actual.loss, expected.loss, 1e-14 * expected.loss);
        EXPECT_EQ(run(this->backend()).loss, actual.loss) << "some order, but always the same";
      }
    }
  }
}

TYPED_TEST_P(Primitives, Convolution) {
  using T = typename TypeParam::T;
  for (const ConvolutionProblem& p : cross_stage::convolutions) {
    const auto terms = static_cast<double>(p.filter_height * p.filter_width * p.in);
    this->expect_same(
        "convolution of " + cross_stage::name_of(p), 8 + 2 * std::sqrt(terms),
        [&](Backend<T>& backend, const T* input, const T* filter, T* output) {
          backend.convolution(p, input, filter, output);
        },
        random_values<T>(p.batch * p.height * p.width * p.in, 1),
        random_values<T>(p.filter_height * p.filter_width * p.in * p.out, 2, -1, 2),
        poison<T>(p.output_pixels() * p.out + 1));
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST_P(Primitives, ConvolutionBackward) {
  using T = typename TypeParam::T;
  for (const ConvolutionProblem& p : cross_stage::convolutions) {
    const Index inputs = p.batch * p.height * p.width * p.in;
    const Index weights = p.filter_height * p.filter_width * p.in * p.out;
    const double units = 8 + 2 * std::sqrt(static_cast<double>(std::max(
                                     p.output_pixels(), p.filter_height * p.filter_width * p.out)));
    const auto input = random_values<T>(inputs, 1);
    const auto filter = random_values<T>(weights, 2, -1, 2);
    const auto doutput = random_values<T>(p.output_pixels() * p.out, 3, -2, 1);
    const auto both = [&](Backend<T>& backend, const T* in, const T* w, const T* dout, T* din,
                          T* dw) { backend.convolution_backward(p, in, w, dout, din, dw); };
    const auto filter_only = [&](Backend<T>& backend, const T* in, const T* w, const T* dout,
                                 T* dw) {
      backend.convolution_backward(p, in, w, dout, nullptr, dw);
    };
    this->expect_same("gradients of " + cross_stage::name_of(p), units, both, input, filter,
                      doutput, poison<T>(inputs + 1), poison<T>(weights + 1));
    this->expect_same("filter's gradient of " + cross_stage::name_of(p), units, filter_only, input,
                      filter, doutput, poison<T>(weights + 1));
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST_P(Primitives, AveragePool) {
  using T = typename TypeParam::T;
  for (const PoolingProblem& p : cross_stage::poolings) {
    const Index inputs = p.batch * p.height * p.width * p.channels;
    const Index outputs = p.output_elements();
    const auto both = [&](Backend<T>& backend, const T* input, T* output, const T* doutput,
                          T* dinput) {
      backend.average_pool(p, input, output);
      backend.average_pool_backward(p, doutput, dinput);
    };
    this->expect_same("average_pool", 8, both, random_values<T>(inputs, 1), poison<T>(outputs + 1),
                      random_values<T>(outputs, 2), poison<T>(inputs + 1));
  }
}

TYPED_TEST_P(Primitives, SgdUpdate) {
  using T = typename TypeParam::T;
  for (const Index n : cross_stage::lengths) {
    for (const T l2 : {T{0}, T{0.25}}) {
      this->expect_same(
          "sgd_update", 2,
          [&](Backend<T>& backend, const T* gradient, T* parameter) {
            backend.sgd_update(n, T{0.125}, l2, gradient, parameter);
          },
          random_values<T>(n, 1, -2, 3), random_values<T>(n, 2));
    }
  }
}

TYPED_TEST_P(Primitives, Linear) {
  using T = typename TypeParam::T;
  for (const cross_stage::Product& p : cross_stage::products) {
    if (p.m * p.n == 0 || p.k == 0 || p.m > 10'000) continue;
    for (const Activation activation : {Activation::none, Activation::relu, Activation::sigmoid}) {
      for (const bool updates : {false, true}) {
        const auto pass = [&](Backend<T>& backend, const T* input, T* weight, T* bias, T* output,
                              T* doutput, T* dinput, T* dweight, T* dbias) {
          const LinearProblem<T> layer = {.rows = p.m,
                                          .in = p.k,
                                          .out = p.n,
                                          .input = input,
                                          .weight = weight,
                                          .bias = bias,
                                          .activation = activation,
                                          .output = output};
          backend.linear(layer);
          const auto sink = [&](T* gradient, T* parameter) {
            return GradientSink<T>{.gradient = gradient,
                                   .parameter = updates ? parameter : nullptr,
                                   .learning_rate = T{0.5},
                                   .l2 = T{0.125}};
          };
          backend.linear_backward({.forward = layer,
                                   .doutput = doutput,
                                   .dinput = dinput,
                                   .weight = sink(dweight, weight),
                                   .bias = sink(dbias, bias)});
        };
        // Where an update is fused, the gradient need not be stored: then nobody looks at it.
        const auto pass_without_gradients = [&](Backend<T>& backend, const T* input, T* weight,
                                                T* bias, T* output, T* doutput, T* dinput) {
          DeviceArray dweight(backend, poison<T>(p.k * p.n));
          DeviceArray dbias(backend, poison<T>(p.n));
          pass(backend, input, weight, bias, output, doutput, dinput, dweight.get(), dbias.get());
          backend.synchronize();
        };
        const double units = 32 + 4 * std::sqrt(static_cast<double>(std::max({p.m, p.n, p.k})));
        const auto input = random_values<T>(p.m * p.k, 1);
        const auto weight = random_values<T>(p.k * p.n, 2, -1, 1);
        const auto bias = random_values<T>(p.n, 3);
        const auto doutput = random_values<T>(p.m * p.n, 4);
        if (updates) {
          this->expect_same("linear with update " + cross_stage::name_of(p), units,
                            pass_without_gradients, input, weight, bias, poison<T>(p.m * p.n),
                            doutput, poison<T>(p.m * p.k));
        } else {
          this->expect_same("linear " + cross_stage::name_of(p), units, pass, input, weight, bias,
                            poison<T>(p.m * p.n), doutput, poison<T>(p.m * p.k),
                            poison<T>(p.k * p.n), poison<T>(p.n));
        }
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST_P(Primitives, ConvolutionReluPool) {
  using T = typename TypeParam::T;
  for (const Index window : {1, 2, 3}) {
    for (const bool with_bias : {false, true}) {
      const ConvolutionProblem p = {.batch = 3,  // outputs of 6 x 12, which all windows divide
                                    .height = 8,
                                    .width = 14,
                                    .in = 3,
                                    .filter_height = 3,
                                    .filter_width = 3,
                                    .out = 7};
      const Index activated = p.output_pixels() * p.out;
      this->expect_same(
          "convolution_relu_pool", 32,
          [&](Backend<T>& backend, const T* input, const T* filter, const T* bias, T* relus,
              T* output) {
            backend.convolution_relu_pool({.convolution = p,
                                           .window = window,
                                           .input = input,
                                           .filter = filter,
                                           .bias = with_bias ? bias : nullptr,
                                           .activated = relus,
                                           .output = output});
          },
          random_values<T>(p.batch * p.height * p.width * p.in, 1),
          random_values<T>(p.filter_height * p.filter_width * p.in * p.out, 2),
          random_values<T>(p.out, 3), poison<T>(activated),
          poison<T>(activated / (window * window)));
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(Primitives, Fill, Gemm, Transpose, Sum, SumRows, AddBias, Activations,
                            ActivationsBackward, Losses, Predictions, Accumulate, Convolution,
                            ConvolutionBackward, AveragePool, SgdUpdate, Linear,
                            ConvolutionReluPool);

}  // namespace stagewise
