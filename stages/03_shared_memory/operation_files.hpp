/// @file
/// Which file computes each operation, for Stage::files.
#pragma once

#include "02_naive_cuda/operation_files.hpp"

namespace stagewise {

/// Those of stage 03: stage 02's, except those that it computes itself.
inline OperationFiles stage03_files() {
  OperationFiles files = stage02_files();
  set_files(files, "stages/03_shared_memory/",
            {{"gemm.cu", {"gemm"}},
             {"reduce.cu", {"column_sums", "accumulate"}},
             {"loss.cu", {"softmax_cross_entropy", "squared_error"}},
             {"convolution.cu", {"convolution"}},
             {"convolution/backward.cu", {"convolution_backward"}}});
  return files;
}

}  // namespace stagewise
