/// @file
/// What is known of kernels that have run: what they have done, where that is counted (by CUDA on
/// the CPU in an instrumented program), and whether their result depends on the order in which
/// threads run. If it does, a barrier is missing.
#pragma once

#include <functional>
#include <string>

#include "tensor/kernel_counters.hpp"

namespace stagewise::cuda {

/// Whether kernels are counted in this program.
bool counts_kernels();

/// What all kernels have done: their accesses since the first call, which begins to count these.
/// For differences between two calls. All zero where counts_kernels() is false.
KernelCounters kernel_counters();

/// For a kernel whose result is wrong: computes it again, with other orders of the threads if
/// kernels run on the CPU, several times on a GPU, and says in a sentence or two what this shows.
/// @param repeats computes it again, waits for it and returns whether the result is the same.
std::string explain_order(const std::function<bool()>& repeats);

}  // namespace stagewise::cuda
