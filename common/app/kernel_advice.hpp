/// @file
/// What to do when a number that is not finite may come from a changed kernel.
#pragma once

#include <functional>

namespace stagewise {

/// Runs `body`, and adds the advice to a NotFinite that a kernel may have caused.
/// @param cuda_on_cpu whether kernels run through CUDA on the CPU; otherwise there is no advice.
int with_kernel_advice(bool cuda_on_cpu, const std::function<int()>& body);

}  // namespace stagewise
