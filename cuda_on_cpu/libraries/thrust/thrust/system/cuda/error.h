/// @file
/// The errors of the CUDA runtime as those of Thrust.
#pragma once

#include <string>

#include <cuda_runtime_api.h>
#include <thrust/system/error_code.h>
#include <thrust/system_error.h>

THRUST_NAMESPACE_BEGIN
namespace system {

/// The category of cudaError_t.
inline const error_category& cuda_category() {
  class category final : public error_category {
   public:
    const char* name() const override { return "cuda"; }
    std::string message(int value) const override {
      const auto error = static_cast<cudaError_t>(value);
      return std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error);
    }
  };
  static const category only;
  return only;
}

}  // namespace system
using system::cuda_category;
THRUST_NAMESPACE_END
