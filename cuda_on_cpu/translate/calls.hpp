/// @file
/// Calls that nvcc refuses, and that a compiler for one processor would take: of the host's
/// functions by device code, of the device's by host code, of kernels without a launch.
#pragma once

#include "scanner.hpp"

namespace cuda_on_cpu {

/// Refuses such calls in a preprocessed program, and kernels that return something. Only what is
/// certain is refused: the name must be that of one function, which is neither a template nor
/// constexpr nor a member, has as many parameters as the call has arguments, and is in a namespace
/// around the caller's; all else that the program has of the name must be calls and launches; and
/// no header of the system may have a function of the name.
/// @throws TranslationError with a sentence on the first.
void refuse_wrong_calls(const Tokens& tokens);

}  // namespace cuda_on_cpu
