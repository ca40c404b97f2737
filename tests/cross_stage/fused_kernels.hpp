/// @file
/// Stage 04's fused kernels, and stage 01's loops for the same problems, to be called alike.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "01_serial/elementwise.hpp"
#include "01_serial/gemm.hpp"
#include "01_serial/loss.hpp"
#include "01_serial/predict.hpp"
#include "01_serial/reduce.hpp"
#include "01_serial/serial_executor.hpp"
#include "01_serial/update.hpp"
#include "04_minibatch/linear/linear.hpp"
#include "04_minibatch/minibatch_executor.hpp"
#include "04_minibatch/output_layer/output_layer.hpp"
#include "cross_stage/cuda_array.hpp"
#include "support.hpp"
#include "tensor/random.hpp"

namespace stagewise::cross_stage {

/// Stage 04's kernels.
template <typename T>
class Fused {
 public:
  static constexpr bool selects_rows = true;

  bool warp_per_row = false;  ///< how last_layer() works that only stores gradients

  /// In whose memory everything is.
  Executor<T>& executor() { return executor_; }

  void linear(const LinearProblem<T>& p) { minibatch::linear(stream(), p, workspace_); }

  void linear_backward(const LinearBackwardProblem<T>& p) {
    if (p.dinput != nullptr) minibatch::input_gradient(stream(), p, workspace_);
    minibatch::parameter_gradients(stream(), p, one_.get(), workspace_);
  }

  /// As step number 43.
  void loss(const minibatch::LossProblem<T>& p, Totals* totals) {
    add(minibatch::loss(stream(), p, partials_.get()), totals);
  }

  void last_layer(const minibatch::OutputLayerProblem<T>& p, Totals* totals) {
    EXPECT_TRUE(minibatch::fits_output_layer<T>(p.layer.forward.in, p.layer.forward.out));
    if (p.layer.weight.parameter == nullptr) {
      const auto run = warp_per_row ? minibatch::warp_per_row<T> : minibatch::output_layer<T>;
      add(run(stream(), p, partials_.get()), totals);
      return minibatch::parameter_gradients(stream(), p.layer, one_.get(), workspace_);
    }
    const LinearProblem<T>& layer = p.layer.forward;
    const Index length =
        minibatch::max_shares(layer.rows) * minibatch::shares_length(layer.in, layer.out);
    CudaArray<T> shares(poison<T>(length));
    minibatch::OutputLayerProblem<T> problem = p;
    problem.shares = shares.get();
    const Index count = minibatch::output_layer(stream(), problem, partials_.get());
    EXPECT_LE(count, minibatch::max_shares(layer.rows));
    minibatch::add_shares<T>(stream(), {.shares = shares.get(),
                                        .count = count,
                                        .in = layer.in,
                                        .out = layer.out,
                                        .weight = p.layer.weight,
                                        .bias = p.layer.bias,
                                        .totals = totals_of(count, totals)});
    CUDA_CHECK(cudaStreamSynchronize(stream()));
  }

 private:
  cudaStream_t stream() const { return executor_.main_stream().get(); }

  void add(Index partials, Totals* totals) {
    EXPECT_LE(partials, minibatch::max_partials());
    minibatch::add_to_totals(stream(), totals_of(partials, totals));
  }

  minibatch::TotalsProblem totals_of(Index partials, Totals* totals) {
    return {.partials = partials_.get(),
            .count = partials,
            .totals = totals,
            .steps_before = steps_before_.get(),
            .step = 3};
  }

  MinibatchExecutor<T> executor_;
  Workspace workspace_;
  CudaArray<T> one_{{1, 0, 0, 0}};
  CudaArray<BlockPartial> partials_{
      std::vector<BlockPartial>(static_cast<std::size_t>(minibatch::max_partials()))};
  CudaArray<std::int64_t> steps_before_{{40}};
};

/// Stage 01's loops. They select nothing.
template <typename T>
class Unfused {
 public:
  static constexpr bool selects_rows = false;

  Executor<T>& executor() { return executor_; }

  void linear(const LinearProblem<T>& p) {
    const Index n = p.rows * p.out;
    multiply({.m = p.rows, .n = p.out, .k = p.in, .a = p.input, .b = p.weight, .c = p.output});
    if (p.bias != nullptr) serial::add_bias(p.rows, p.out, p.output, p.bias, p.output);
    serial::activate(p.activation, n, p.output, p.output);
  }

  void linear_backward(const LinearBackwardProblem<T>& p) {
    const LinearProblem<T>& f = p.forward;
    if (p.dinput != nullptr) {
      multiply({.op_b = Transpose::yes,
                .m = f.rows,
                .n = f.in,
                .k = f.out,
                .a = p.doutput,
                .b = f.weight,
                .c = p.dinput});
      back_through(p.input_activation, f.rows * f.in, f.input, p.dinput);
    }
    multiply({.op_a = Transpose::yes,
              .m = f.in,
              .n = f.out,
              .k = f.rows,
              .a = f.input,
              .b = p.doutput,
              .c = p.weight.gradient});
    update(p.weight, f.in * f.out);
    if (p.bias.gradient == nullptr) return;
    serial::column_sums(f.rows, f.out, p.doutput, p.bias.gradient);
    update(p.bias, f.out);
  }

  void loss(const minibatch::LossProblem<T>& p, Totals* totals) {
    std::vector<T> losses(static_cast<std::size_t>(p.rows));
    std::vector<std::int32_t> classes(losses.size());
    if (p.loss == LossKind::squared_error) {
      serial::squared_error(p.rows, p.classes, p.outputs, p.labels, losses.data());
      serial::squared_error_backward(p.rows, p.classes, p.batch_rows, p.outputs, p.labels,
                                     p.doutputs);
    } else {
      std::vector<T> probabilities(static_cast<std::size_t>(p.rows * p.classes));
      serial::softmax_cross_entropy(p.rows, p.classes, p.outputs, p.labels, probabilities.data(),
                                    losses.data());
      serial::softmax_cross_entropy_backward(p.rows, p.classes, p.batch_rows, probabilities.data(),
                                             p.labels, p.doutputs);
    }
    back_through(p.activation, p.rows * p.classes, p.outputs, p.doutputs);
    if (p.has_threshold) {
      serial::threshold(p.rows, p.threshold, p.outputs, classes.data());
    } else {
      serial::argmax(p.rows, p.classes, p.outputs, classes.data());
    }
    serial::accumulate(p.rows, 43, losses.data(), classes.data(), p.labels, totals);
  }

  void last_layer(const minibatch::OutputLayerProblem<T>& p, Totals* totals) {
    std::vector<T> outputs = poison<T>(p.loss.rows * p.loss.classes);
    LinearProblem<T> forward = p.layer.forward;
    forward.activation = p.loss.activation;
    forward.output = outputs.data();
    linear(forward);
    minibatch::LossProblem<T> behind = p.loss;
    behind.outputs = outputs.data();
    loss(behind, totals);
    linear_backward(p.layer);
  }

 private:
  static void multiply(const GemmProblem<T>& p) { serial::gemm(serial::GemmVariant::reordered, p); }

  static void back_through(Activation activation, Index n, const T* y, T* dy) {
    serial::activate_backward(activation, n, y, dy, dy);
  }

  static void update(const GradientTarget<T>& target, Index n) {
    if (target.parameter == nullptr) return;
    serial::sgd_update(n, target.learning_rate, target.l2, target.gradient, target.parameter);
  }

  SerialExecutor<T> executor_;
};

/// To compare NaNs, too.
template <typename T>
std::vector<std::uint64_t> bits_of(const std::vector<T>& values) {
  std::vector<std::uint64_t> bits;
  for (const T value : values) {
    using Bits = std::conditional_t<sizeof(T) == sizeof(float), std::uint32_t, std::uint64_t>;
    bits.push_back(std::bit_cast<Bits>(value));
  }
  return bits;
}

/// Samples that a batch is picked from; some of them are in none.
inline constexpr Index spare_samples = 7;

/// The samples of a batch, some of them twice.
inline std::vector<std::uint32_t> random_order(Index rows, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::uint32_t> order(static_cast<std::size_t>(rows));
  for (std::uint32_t& sample : order) {
    sample =
        static_cast<std::uint32_t>(random.below(static_cast<std::uint64_t>(rows + spare_samples)));
  }
  return order;
}

/// The rows of `data` [.., width] that `order` names.
template <typename T>
std::vector<T> rows_of(const std::vector<T>& data, Index width,
                       const std::vector<std::uint32_t>& order) {
  std::vector<T> rows;
  for (const std::uint32_t sample : order) {
    const auto begin = data.begin() + static_cast<Index>(sample) * width;
    rows.insert(rows.end(), begin, begin + width);
  }
  return rows;
}

}  // namespace stagewise::cross_stage
