/// @file
/// Which file computes each operation, for Stage::files.
#pragma once

#include "02_naive_cuda/operation_files.hpp"

namespace stagewise {

/// Those of stage 03: stage 02's, except those that it computes itself.
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
  return files;
}

}  // namespace stagewise
