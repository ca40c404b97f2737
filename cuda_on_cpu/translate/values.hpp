/// @file
/// The runtime's functions as values: `std::unique_ptr<float, decltype(&cudaFree)>`.
#pragma once

#include <string>
#include <string_view>

namespace cuda_on_cpu {

/// Behind `::`, an expression for the runtime's function of that name with NVIDIA's signature;
/// empty if it has that already, or is none. A function that is called has one parameter more, for
/// the place. Those that take a kernel, or the address of any pointer without a place, such as
/// cudaHostGetDevicePointer(), are left as the header has them.
std::string function_value(std::string_view name);

}  // namespace cuda_on_cpu
