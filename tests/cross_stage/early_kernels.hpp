/// @file
/// Two kernels with the same parameters, one of which counts as compiled for old GPUs.
#pragma once

namespace stagewise::cross_stage {

bool new_kernel_starts_early();
bool old_kernel_starts_early();
bool new_kernel_starts_early_in_order();

}  // namespace stagewise::cross_stage
