/// @file
/// What the mistakes share: they look at errors and results, unless that is their mistake. The
/// program ends after one of them, so that nobody frees memory but where that is the point.
#pragma once

#include <cstddef>
#include <filesystem>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "mistakes/mistakes.hpp"

namespace mistakes {

/// Throws the sentence of CUDA, with the line of the call.
// Not by std::source_location, which clang 14 cannot do with the library of g++.
inline void check(cudaError_t status, CUDA_ON_CPU_HERE) {
  if (status == cudaSuccess) return;
  throw std::runtime_error(std::filesystem::path(place.file).filename().string() + ":" +
                           std::to_string(place.line) + ": " + cudaGetErrorString(status));
}

/// Throws if a result is wrong, with the first element that is.
template <typename T>
void expect(const T* result, const std::vector<T>& right) {
  std::vector<T> host(right.size());
  check(cudaMemcpy(host.data(), result, right.size() * sizeof(T), cudaMemcpyDefault));
  for (std::size_t i = 0; i < right.size(); ++i) {
    if (host[i] == right[i]) continue;
    const bool is_nan = host[i] != host[i];
    throw std::runtime_error("element " + std::to_string(i) + " is " +
                             (is_nan ? "nan" : std::to_string(host[i])) + ", but should be " +
                             std::to_string(right[i]));
  }
}

/// Memory of the device for n numbers that nobody has set. Reports name the line that calls this.
inline float* unset(int n, CUDA_ON_CPU_HERE) {
  float* numbers = nullptr;
  check(cudaMalloc(&numbers, n * sizeof(float), place));
  return numbers;
}

/// n numbers on the device: 1, 2, 3, ...
inline float* counting(int n, CUDA_ON_CPU_HERE) {
  float* const numbers = unset(n, place);
  std::vector<float> host(n);
  std::iota(host.begin(), host.end(), 1.0F);
  check(cudaMemcpy(numbers, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  return numbers;
}

__global__ inline void fill(int n, float value, float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = value;
}

__global__ inline void add(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += x[i];
}

}  // namespace mistakes
