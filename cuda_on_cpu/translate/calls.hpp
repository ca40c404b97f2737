/// @file
/// Calls that nvcc refuses, and that a compiler for one processor would take: of the host's
/// functions by device code, of the device's by host code, of kernels without a launch.
#pragma once

#include <vector>

#include "functions.hpp"
#include "scanner.hpp"

namespace cuda_on_cpu {

/// Refuses such calls in a preprocessed program, and kernels that return something. Only what is
/// certain is refused: a name must stand for one function, which is neither a template nor
/// constexpr nor a member.
/// @throws TranslationError with a sentence on the first.
void refuse_wrong_calls(const std::vector<Token>& tokens,
                        const std::vector<DeviceFunction>& functions);

}  // namespace cuda_on_cpu
