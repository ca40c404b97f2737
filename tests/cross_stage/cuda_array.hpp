/// @file
/// An array in the GPU's memory, for tests that call kernels without an executor.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cross_stage/expect_computed.hpp"
#include "cuda/check.hpp"
#include "cuda/memory.hpp"

namespace stagewise {

template <typename T>
class CudaArray {
 public:
  explicit CudaArray(const std::vector<T>& values, CodeLine asker = CodeLine::here())
      : tensor_({static_cast<Index>(values.size())}, cuda::device_memory(), asker) {
    CUDA_CHECK(cudaMemcpy(tensor_.data(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaStreamSynchronize(nullptr));  // other streams do not wait for this one
  }

  T* get() { return tensor_.data(); }

  /// A copy, when all that was enqueued has been done.
  std::vector<T> read() const {
    std::vector<T> values(static_cast<std::size_t>(tensor_.elements()));
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemcpy(values.data(), tensor_.data(), values.size() * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  Tensor<T> tensor_;
};

/// Expects each element within `units` units in the last place of the largest finite one. Where a
/// NaN or an infinity is expected, nothing else will do.
/// @param least what the largest one counts as at least: sums may be small because their terms
///        cancel out.
template <typename T>
void expect_within_units(const std::string& what, double units, const std::vector<T>& actual,
                         const std::vector<T>& expected, double least = 0) {
  double scale = least;
  for (const T value : expected) {
    if (std::isfinite(value)) scale = std::max(scale, std::abs(static_cast<double>(value)));
  }
  const double bound = units * static_cast<double>(std::numeric_limits<T>::epsilon()) * scale;
  expect_computed(what, actual, expected, {.columns = static_cast<Index>(expected.size())}, bound);
}

}  // namespace stagewise
