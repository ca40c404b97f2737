/// @file
/// Does a kernel's result depend on the order in which threads run? Then a barrier is missing.
#pragma once

#include <functional>
#include <string>

namespace stagewise::cuda {

/// For somebody whose kernel computes something else than it should: computes it again, in other
/// orders of the threads where kernels run on the CPU, some times more on a GPU, and says in a
/// sentence or two what that means.
/// @param repeats computes it again and waits for it; whether the result is the one from before.
std::string explain_order(const std::function<bool()>& repeats);

}  // namespace stagewise::cuda
