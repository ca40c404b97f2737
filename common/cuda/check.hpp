/// @file
/// How every CUDA call and every kernel launch is checked.
#pragma once

#include <cuda_runtime.h>

namespace stagewise::cuda {

/// @throws Error unless `status` is cudaSuccess: a sentence with the expression, its place, the
///         meaning of the error and, for common errors, what to do.
void check(cudaError_t status, const char* expression, const char* file, int line);

/// Checks that a kernel could be launched. Errors while it runs are reported by the next call that
/// waits for it.
/// @throws Error as check() does.
void check_launch(const char* kernel, const char* file, int line);

}  // namespace stagewise::cuda

/// Evaluates a call of the CUDA runtime and throws Error if it fails.
// A function would not know the text of its argument.
// NOLINTBEGIN(cppcoreguidelines-macro-usage)
#define CUDA_CHECK(expression) ::stagewise::cuda::check((expression), #expression, __FILE__, __LINE__)

/// To be used right after every launch; `kernel` is its name, in quotes.
#define CUDA_CHECK_LAUNCH(kernel) ::stagewise::cuda::check_launch(kernel, __FILE__, __LINE__)
// NOLINTEND(cppcoreguidelines-macro-usage)
