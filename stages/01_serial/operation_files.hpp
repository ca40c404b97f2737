/// @file
/// Which file computes each operation, for Stage::files.
#pragma once

#include <string>

#include "app/stage.hpp"

namespace stagewise {

/// Those of stage 01.
inline OperationFiles stage01_files() {
  const std::string folder = "stages/01_serial/";
  OperationFiles files = {{"gather", "common/data/dataset.cpp"},
                          {"gemm", folder + "gemm.cpp"},
                          {"add_bias", folder + "elementwise.cpp"},
                          {"column_sums", folder + "reduce.cpp"},
                          {"sum", folder + "elementwise.cpp"},
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
  for (const ActivationNames& one : activations) {
    files[one.name] = files[one.backward] = folder + "elementwise.cpp";
  }
  return files;
}

}  // namespace stagewise
