/// @file
/// What stage 04 offers on the command line.
#pragma once

#include "03_shared_memory/offers.hpp"

namespace stagewise::minibatch {

/// The stage's program, options and commands, as other stages name them.
inline Offers offers() {
  return {.program = "stage04_minibatch",
          .options = {"stream-batches", "gather", "fuse", "capture", "workers", "average",
                      "average-every"},
          .commands = {}};
}

/// Where its lines are computed: stage 03's, and the fused ones.
inline OperationFiles operation_files() {
  const std::string folder = "stages/04_minibatch/";
  OperationFiles files = shared_memory::operation_files();
  files["gather"] = folder + "gather.cu";
  files["linear"] = folder + "linear.cu";
  files["linear_input_gradient"] = folder + "linear.cu";
  files["linear_gradients"] = folder + "linear.cu";
  files["output_layer"] = folder + "output_layer.cu";
  files["loss"] = folder + "loss.cu";
  files["add_partials"] = folder + "loss.cu";
  files["convolution_relu_pool"] = folder + "convolution.cu";
  files["pool_relu_backward"] = folder + "convolution.cu";
  files["update_by_sum"] = folder + "update.cu";
  files["average_weights"] = folder + "update.cu";
  return files;
}

}  // namespace stagewise::minibatch
