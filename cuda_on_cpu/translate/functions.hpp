/// @file
/// Where the kernels and the device functions of a file are, and what in them can never run on a
/// processor.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scanner.hpp"

namespace cuda_on_cpu {

/// A function whose declaration says __global__ or __device__, and that has a body.
struct DeviceFunction {
  std::string_view name;
  std::size_t name_at = 0;  ///< the token
  bool is_kernel = false;
  bool is_host = false;  ///< __host__ __device__
  bool is_template = false;
  Range bound = {0, 0};       ///< the first argument of __launch_bounds__; empty if there is none
  Range parameters = {0, 0};  ///< what stands in its parentheses
  Range body = {0, 0};        ///< from behind the brace that opens it up to the one that closes it
};

/// All of them in a file, in its order. Macros are not looked into.
std::vector<DeviceFunction> find_device_functions(const Tokens& tokens);

/// Has a header of the system a function of that name, in a preprocessed program? The standard
/// library's may be found by the types of the arguments, and the runtime's are there for kernels.
bool has_function_in_headers(const Tokens& tokens, std::string_view name);

/// What a preprocessed program asks for that is not there on a processor: textures, the driver's
/// API, inline PTX that is not known, launches by kernels.
/// @param known_ptx the statements that are (finders.hpp), by the tokens that they begin with.
/// @throws TranslationError with a sentence on the first.
void refuse_what_is_missing(const Tokens& tokens, const std::vector<DeviceFunction>& functions,
                            const std::set<std::size_t>& known_ptx);

}  // namespace cuda_on_cpu
