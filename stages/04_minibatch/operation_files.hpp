/// @file
/// Which file computes each operation, for Stage::files.
#pragma once

#include "03_shared_memory/operation_files.hpp"

namespace stagewise {

/// Those of stage 04: stage 03's, and the fused operations.
inline OperationFiles stage04_files() {
  const std::string folder = "stages/04_minibatch/";
  OperationFiles files = stage03_files();
  files["gather"] = folder + "data/gather.cu";
  files["linear"] = folder + "linear/linear.cu";
  files["linear_input_gradient"] = folder + "linear/input_gradient.cu";
  files["linear_gradients"] = folder + "linear/parameter_gradients.cu";
  files["output_layer"] = folder + "output_layer/output_layer.hpp";
  files["add_shares"] = folder + "output_layer/shares.cu";
  files["loss"] = folder + "output_layer/1_loss.cu";
  files["add_partials"] = folder + "output_layer/1_loss.cu";
  files["convolution_relu_pool"] = folder + "convolution/convolution.cu";
  files["pool_relu_backward"] = folder + "convolution/pool_backward.cu";
  files["update_by_sum"] = folder + "update.cu";
  files["average_weights"] = folder + "update.cu";
  return files;
}

}  // namespace stagewise
