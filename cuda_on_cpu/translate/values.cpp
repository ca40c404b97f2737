#include "values.hpp"

#include <algorithm>
#include <array>

namespace cuda_on_cpu {
namespace {

constexpr std::array<std::string_view, 24> with_place = {
    "cudaMalloc",        "cudaMallocAsync", "cudaMallocManaged",
    "cudaMallocPitch",   "cudaMallocHost",  "cudaHostAlloc",
    "cudaFree",          "cudaFreeAsync",   "cudaFreeHost",
    "cudaMemcpy",        "cudaMemcpyAsync", "cudaMemcpy2D",
    "cudaMemcpy2DAsync", "cudaMemcpyPeer",  "cudaMemcpyPeerAsync",
    "cudaMemset",        "cudaMemsetAsync", "cudaMemset2D",
    "cudaMemset2DAsync", "cudaMalloc3D",    "cudaMemset3D",
    "cudaMemset3DAsync", "cudaMemcpy3D",    "cudaMemcpy3DAsync"};

/// Of the function that has two forms, the one without a pool.
constexpr std::string_view malloc_async =
    "static_cast<cudaError_t (*)(::cuda_on_cpu::PointerTo, std::size_t, cudaStream_t, "
    "::cuda_on_cpu::Place)>(&::cudaMallocAsync)";

}  // namespace

std::string function_value(std::string_view name) {
  if (std::find(with_place.begin(), with_place.end(), name) == with_place.end()) return "";
  const std::string function =
      name == "cudaMallocAsync" ? std::string(malloc_async) : "&::" + std::string(name);
  return "cuda_on_cpu::WithoutPlace<" + function + ">::call";
}

}  // namespace cuda_on_cpu
