/// @file
/// The options of stage 04's step on the command line.
#pragma once

#include <vector>

#include "04_minibatch/captured_step.hpp"
#include "app/stage.hpp"

namespace stagewise {

/// What `train` offers, and partly `evaluate`: how batches come to the device, and what is fused
/// and recorded.
std::vector<StageOption> step_options();

/// What was chosen.
/// @param timings whether every operation is measured.
/// @throws UsageError where the choices contradict one another or the model.
CapturedStepOptions read_step_options(const StageOptions& values, const ModelOptions& model,
                                      bool timings);

}  // namespace stagewise
