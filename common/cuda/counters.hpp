/// @file
/// What kernels have done, where that is counted: by CUDA on the CPU in an instrumented program.
#pragma once

#include "tensor/kernel_counters.hpp"

namespace stagewise::cuda {

/// Whether kernels are counted in this program.
bool counts_kernels();

/// What all kernels have done: their accesses since the first call, which begins to count these.
/// For differences between two calls. All zero where counts_kernels() is false.
KernelCounters kernel_counters();

}  // namespace stagewise::cuda
