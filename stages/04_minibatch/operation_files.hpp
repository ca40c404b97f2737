/// @file
/// Which file computes each operation, for Stage::files.
#pragma once

#include "03_shared_memory/operation_files.hpp"

namespace stagewise {

/// Those of stage 04: stage 03's, and the fused operations.
inline OperationFiles stage04_files() {
  OperationFiles files = stage03_files();
  set_files(files, "stages/04_minibatch/",
            {{"data/gather.cu", {"gather"}},
             {"linear/linear.cu", {"linear"}},
             {"linear/input_gradient.cu", {"linear_input_gradient"}},
             {"linear/parameter_gradients.cu", {"linear_gradients"}},
             {"output_layer/output_layer.cu", {"output_layer"}},
             {"output_layer/shares.cu", {"add_shares"}},
             {"output_layer/loss.cu", {"loss", "add_partials"}},
             {"convolution/convolution.cu", {"convolution_relu_pool", "pool_relu_backward"}},
             {"update.cu", {"update_by_sum", "average_weights"}}});
  return files;
}

}  // namespace stagewise
