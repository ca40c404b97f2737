/// @file
/// What the mistakes share: they look at errors and results, unless that is their mistake.
#pragma once

#include <cstddef>
#include <filesystem>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuda_runtime.h>

namespace mistakes {

/// Throws the sentence of CUDA, with the line of the call.
// Not by std::source_location, which clang 14 cannot do with the library of g++.
inline void check(cudaError_t status, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
  if (status == cudaSuccess) return;
  throw std::runtime_error(std::filesystem::path(file).filename().string() + ":" +
                           std::to_string(line) + ": " + cudaGetErrorString(status));
}

/// Throws if a result is wrong, with the first element that is.
template <typename T>
void expect(const std::vector<T>& result, const std::vector<T>& right) {
  for (std::size_t i = 0; i < right.size(); ++i) {
    if (result[i] == right[i]) continue;
    const bool is_nan = result[i] != result[i];
    throw std::runtime_error("element " + std::to_string(i) + " is " +
                             (is_nan ? "nan" : std::to_string(result[i])) + ", but should be " +
                             std::to_string(right[i]));
  }
}

/// 1, 2, 3, ...
inline std::vector<float> counting(int n) {
  std::vector<float> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0F);
  return values;
}

}  // namespace mistakes
