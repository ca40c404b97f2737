/// @file
/// Where device code stores through what is declared volatile, and where it waits by asking again
/// and again. Programs from the time when the threads of a warp went in lockstep rely on it at such
/// a store: a reduction without any waiting.
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

/// What a program does with volatile variables.
struct VolatileUses {
  std::map<std::size_t, VolatileStore> stores;  ///< by the token that they begin with
  /// The `;` or the `}` that ends each loop with an empty body, as in `while (*flag == 0);`: a
  /// thread that waits there for another one.
  std::vector<std::size_t> empty_loops;
  /// Where the conditions of loops begin that read a volatile variable.
  std::vector<std::size_t> watching_loops;
};

/// Those in the functions of a file.
VolatileUses find_volatile_uses(const Tokens& tokens, const std::vector<DeviceFunction>& functions);

}  // namespace cuda_on_cpu
