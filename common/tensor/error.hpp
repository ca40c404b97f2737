/// @file
/// The two exceptions of the project. Each contains one sentence for the user; the programs print
/// it on standard error and end with the exception's exit code.
#pragma once

#include <stdexcept>
#include <string>

namespace stagewise {

/// A run-time failure: a file that is missing or wrong, a comparison beyond its bound (exit code
/// 1).
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Wrong usage: an unknown option, data set or value (exit code 2).
class UsageError : public Error {
 public:
  using Error::Error;
};

/// A source file's path within the project, for sentences: "stages/02_naive_cuda/gemm.cu".
/// @param path as the compiler gives it.
std::string path_in_project(const std::string& path);

}  // namespace stagewise
