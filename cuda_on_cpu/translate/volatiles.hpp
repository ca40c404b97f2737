/// @file
/// Where device code stores through what is declared volatile. Programs from the time when the
/// threads of a warp went in lockstep rely on it there: a reduction without any waiting.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "functions.hpp"
#include "scanner.hpp"

namespace cuda_on_cpu {

/// `partial[t] += partial[t + 16]`, as a statement and without its semicolon.
struct VolatileStore {
  Range target;
  std::string operation;  ///< "+" of "+=", nothing of "="
  Range value;
};

/// All of them, by the token that they begin with.
std::map<std::size_t, VolatileStore> find_volatile_stores(
    const std::vector<Token>& tokens, const std::vector<DeviceFunction>& functions);

}  // namespace cuda_on_cpu
