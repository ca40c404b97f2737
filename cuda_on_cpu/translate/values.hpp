/// @file
/// The runtime's functions as values: `std::unique_ptr<float, decltype(&cudaFree)>`.
#pragma once

#include <string>
#include <string_view>

namespace cuda_on_cpu {

/// Behind `::`, an expression for the runtime's function of that name with NVIDIA's signature;
/// empty if it has that already, or is none. A function that is called has one parameter more, for
/// the place.
std::string function_value(std::string_view name);

}  // namespace cuda_on_cpu
