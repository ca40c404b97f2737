#include "values.hpp"

#include <algorithm>
#include <array>

namespace cuda_on_cpu {
namespace {

/// A function that also exists as a template, and the parameters of the one that is none.
struct Overloaded {
  std::string_view name;
  std::string_view parameters;
};

constexpr std::array<Overloaded, 6> overloaded = {
    {{"cudaMalloc", "void**, std::size_t"},
     {"cudaMallocAsync", "void**, std::size_t, cudaStream_t"},
     {"cudaMallocManaged", "void**, std::size_t, unsigned int"},
     {"cudaMallocPitch", "void**, std::size_t*, std::size_t, std::size_t"},
     {"cudaMallocHost", "void**, std::size_t, unsigned int"},
     {"cudaHostAlloc", "void**, std::size_t, unsigned int"}}};

constexpr std::array<std::string_view, 18> others = {
    "cudaFree",          "cudaFreeAsync",   "cudaFreeHost",
    "cudaMemcpy",        "cudaMemcpyAsync", "cudaMemcpy2D",
    "cudaMemcpy2DAsync", "cudaMemcpyPeer",  "cudaMemcpyPeerAsync",
    "cudaMemset",        "cudaMemsetAsync", "cudaMemset2D",
    "cudaMemset2DAsync", "cudaMalloc3D",    "cudaMemset3D",
    "cudaMemset3DAsync", "cudaMemcpy3D",    "cudaMemcpy3DAsync"};

}  // namespace

std::string function_value(std::string_view name) {
  if (std::find(others.begin(), others.end(), name) != others.end())
    return "cuda_on_cpu::WithoutPlace<&::" + std::string(name) + ">::call";
  const auto* const found = std::find_if(overloaded.begin(), overloaded.end(),
                                         [&](const auto& known) { return known.name == name; });
  if (found == overloaded.end()) return "";
  return "cuda_on_cpu::WithoutPlace<static_cast<cudaError_t (*)(" + std::string(found->parameters) +
         ", const char*, unsigned)>(&::" + std::string(name) + ")>::call";
}

}  // namespace cuda_on_cpu
