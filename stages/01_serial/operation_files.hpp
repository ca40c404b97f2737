/// @file
/// Which file computes each operation, for Stage::files.
#pragma once

#include "app/stage.hpp"

namespace stagewise {

/// Those of stage 01.
inline OperationFiles stage01_files() {
  OperationFiles files = {{"gather", "common/data/dataset.cpp"}};
  set_files(files, "stages/01_serial/",
            {{"gemm.cpp", {"gemm"}},
             {"elementwise.hpp", {"add_bias", "sum"}},
             {"reduce.hpp", {"column_sums"}},
             {"loss.hpp",
              {"softmax_cross_entropy", "softmax_cross_entropy_backward", "squared_error",
               "squared_error_backward", "accumulate"}},
             {"predict.hpp", {"argmax", "threshold"}},
             {"convolution.hpp", {"convolution", "convolution_backward"}},
             {"average_pool.hpp", {"average_pool", "average_pool_backward"}},
             {"update.hpp", {"sgd_update", "momentum_update", "adam_update"}},
             {"serial_executor.cpp", {"mean", "copy"}}});
  for (const ActivationNames& one : activations) {
    files[one.name] = files[one.backward] = files["add_bias"];
  }
  return files;
}

}  // namespace stagewise
