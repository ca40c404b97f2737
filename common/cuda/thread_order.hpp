/// @file
/// Does a kernel's result depend on the order in which threads run? Then a barrier is missing.
#pragma once

#include <functional>
#include <string>

namespace stagewise::cuda {

/// For a kernel whose result is wrong: computes it again, with other orders of the threads if
/// kernels run on the CPU, several times on a GPU, and says in a sentence or two what this shows.
/// @param repeats computes it again, waits for it and returns whether the result is the same.
std::string explain_order(const std::function<bool()>& repeats);

}  // namespace stagewise::cuda
