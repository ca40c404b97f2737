/// @file
/// How every MPI call is checked.
#pragma once

#include <mpi.h>

namespace stagewise::mpi {

/// @throws Error unless `status` is MPI_SUCCESS: a sentence with the call, its place and the
///         library's message.
void check(int status, const char* expression, const char* file, int line);

}  // namespace stagewise::mpi

/// Evaluates a call of MPI and throws Error if it fails.
// A function would not know the text of its argument.
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define MPI_CHECK(expression) ::stagewise::mpi::check((expression), #expression, __FILE__, __LINE__)
