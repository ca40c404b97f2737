/// @file
/// Which file computes each operation, for Stage::files.
#pragma once

#include <string>

#include "app/stage.hpp"

namespace stagewise {

/// Those of stage 02.
inline OperationFiles stage02_files() {
  const std::string folder = "stages/02_naive_cuda/";
  OperationFiles files = {{"gather", folder + "naive_cuda_executor.cpp"},
                          {"gemm", folder + "gemm.cu"},
                          {"add_bias", folder + "elementwise.cu"},
                          {"column_sums", folder + "reduce.cu"},
                          {"sum", folder + "elementwise.cu"},
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
  for (const ActivationNames& one : activations) {
    files[one.name] = files[one.backward] = folder + "elementwise.cu";
  }
  return files;
}

}  // namespace stagewise
