/// @file
/// What stage 03 offers on the command line.
#pragma once

#include "02_naive_cuda/offers.hpp"

namespace stagewise::shared_memory {

/// The stage's program, options and commands, as other stages name them.
inline Offers offers() {
  return {.program = "stage03_shared_memory",
          .options = {"gemm", "reduce", "convolution", "fold-bias"},
          .commands = {}};
}

/// Where its operations are computed: stage 02's, but for those that it computes itself.
inline OperationFiles operation_files() {
  const std::string folder = "stages/03_shared_memory/";
  OperationFiles files = naive_cuda::operation_files();
  files["gemm"] = folder + "gemm.cu";
  files["column_sums"] = folder + "reduce.cu";
  files["softmax_cross_entropy"] = folder + "loss.cu";
  files["squared_error"] = folder + "loss.cu";
  files["accumulate"] = folder + "reduce.cu";
  files["convolution"] = folder + "convolution.cu";
  files["convolution_backward"] = folder + "convolution.cu";
  files["folded_linear"] = folder + "fold_bias/fold_bias.cpp";
  files["folded_gradients"] = folder + "fold_bias/fold_bias.cpp";
  return files;
}

}  // namespace stagewise::shared_memory
