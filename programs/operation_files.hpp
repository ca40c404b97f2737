/// @file
/// Which file computes each operation, for every stage: for Stage::files.
#pragma once

#include <string>

#include "app/stage.hpp"

namespace stagewise {

/// Those of stage 01.
inline OperationFiles stage01_files() {
  const std::string folder = "stages/01_serial/";
  return {{"gather", "common/data/dataset.cpp"},
          {"gemm", folder + "gemm.cpp"},
          {"add_bias", folder + "elementwise.cpp"},
          {"column_sums", folder + "reduce.cpp"},
          {"sum", folder + "elementwise.cpp"},
          {"relu", folder + "elementwise.cpp"},
          {"relu_backward", folder + "elementwise.cpp"},
          {"sigmoid", folder + "elementwise.cpp"},
          {"sigmoid_backward", folder + "elementwise.cpp"},
          {"softmax_cross_entropy", folder + "loss.cpp"},
          {"softmax_cross_entropy_backward", folder + "loss.cpp"},
          {"squared_error", folder + "loss.cpp"},
          {"squared_error_backward", folder + "loss.cpp"},
          {"argmax", folder + "predict.cpp"},
          {"threshold", folder + "predict.cpp"},
          {"accumulate", folder + "loss.cpp"},
          {"convolution", folder + "convolution.cpp"},
          {"convolution_backward", folder + "convolution.cpp"},
          {"average_pool", folder + "average_pool.cpp"},
          {"average_pool_backward", folder + "average_pool.cpp"},
          {"sgd_update", folder + "update.cpp"},
          {"momentum_update", folder + "update.cpp"},
          {"adam_update", folder + "update.cpp"},
          {"mean", folder + "serial_executor.cpp"},
          {"copy", folder + "serial_executor.cpp"}};
}

/// Those of stage 02.
inline OperationFiles stage02_files() {
  const std::string folder = "stages/02_naive_cuda/";
  return {{"gather", folder + "naive_cuda_executor.cpp"},
          {"gemm", folder + "gemm.cu"},
          {"add_bias", folder + "elementwise.cu"},
          {"column_sums", folder + "reduce.cu"},
          {"sum", folder + "elementwise.cu"},
          {"relu", folder + "elementwise.cu"},
          {"relu_backward", folder + "elementwise.cu"},
          {"sigmoid", folder + "elementwise.cu"},
          {"sigmoid_backward", folder + "elementwise.cu"},
          {"softmax_cross_entropy", folder + "loss.cu"},
          {"softmax_cross_entropy_backward", folder + "loss.cu"},
          {"squared_error", folder + "loss.cu"},
          {"squared_error_backward", folder + "loss.cu"},
          {"argmax", folder + "predict.cu"},
          {"threshold", folder + "predict.cu"},
          {"accumulate", folder + "loss.cu"},
          {"convolution", folder + "convolution.cu"},
          {"convolution_backward", folder + "convolution.cu"},
          {"average_pool", folder + "average_pool.cu"},
          {"average_pool_backward", folder + "average_pool.cu"},
          {"sgd_update", folder + "update.cu"},
          {"momentum_update", folder + "update.cu"},
          {"adam_update", folder + "update.cu"},
          {"mean", folder + "elementwise.cu"},
          {"copy", folder + "naive_cuda_executor.cpp"}};
}

/// Those of stage 03: stage 02's, except those that it computes itself, and its experiment.
inline OperationFiles stage03_files() {
  const std::string folder = "stages/03_shared_memory/";
  OperationFiles files = stage02_files();
  files["gemm"] = folder + "gemm.cu";
  files["column_sums"] = folder + "reduce.cu";
  files["softmax_cross_entropy"] = folder + "loss.cu";
  files["squared_error"] = folder + "loss.cu";
  files["accumulate"] = folder + "reduce.cu";
  files["convolution"] = folder + "convolution.cu";
  files["convolution_backward"] = folder + "convolution.cu";
  files["folded_linear"] = "benchmarks/experiments/fold_bias/fold_bias_executor.cpp";
  files["folded_gradients"] = "benchmarks/experiments/fold_bias/fold_bias_executor.cpp";
  return files;
}

/// Those of stage 04: stage 03's, and the fused operations.
inline OperationFiles stage04_files() {
  const std::string folder = "stages/04_minibatch/";
  OperationFiles files = stage03_files();
  files["gather"] = folder + "gather.cu";
  files["linear"] = folder + "linear.cu";
  files["linear_input_gradient"] = folder + "linear/input_gradient.cu";
  files["linear_gradients"] = folder + "linear/parameter_gradients.cu";
  files["output_layer"] = folder + "output_layer.cu";
  files["add_shares"] = folder + "shares.cu";
  files["loss"] = folder + "loss.cu";
  files["add_partials"] = folder + "loss.cu";
  files["convolution_relu_pool"] = folder + "convolution.cu";
  files["pool_relu_backward"] = folder + "convolution.cu";
  files["persistent_step"] = folder + "persistent/mlp_steps.cu";
  files["update_by_sum"] = folder + "update.cu";
  files["average_weights"] = folder + "update.cu";
  return files;
}

/// Those of stage 05: stage 04's, and the exchanges between processes.
inline OperationFiles stage05_files() {
  OperationFiles files = stage04_files();
  files["all_reduce"] = "stages/05_mpi/transport.cpp";
  files["all_reduce_update"] = "stages/05_mpi/all_reduce/2_two_shot.cu";
  files["replicate"] = "common/training/executor.hpp";
  return files;
}

}  // namespace stagewise
