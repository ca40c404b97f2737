/// @file
/// Which file computes each operation, for Stage::files.
#pragma once

#include "app/stage.hpp"

namespace stagewise {

/// Those of stage 02.
inline OperationFiles stage02_files() {
  OperationFiles files;
  set_files(files, "stages/02_naive_cuda/",
            {{"gemm.cu", {"gemm"}},
             {"elementwise.cu", {"add_bias", "sum", "mean"}},
             {"reduce.cu", {"column_sums"}},
             {"loss.cu",
              {"softmax_cross_entropy", "softmax_cross_entropy_backward", "squared_error",
               "squared_error_backward", "accumulate"}},
             {"predict.cu", {"argmax", "threshold"}},
             {"convolution.cu", {"convolution", "convolution_backward"}},
             {"average_pool.cu", {"average_pool", "average_pool_backward"}},
             {"update.cu", {"sgd_update", "momentum_update", "adam_update"}},
             {"naive_cuda_executor.cpp", {"gather", "copy"}}});
  for (const ActivationNames& one : activations) {
    files[one.name] = files[one.backward] = files["add_bias"];
  }
  return files;
}

}  // namespace stagewise
