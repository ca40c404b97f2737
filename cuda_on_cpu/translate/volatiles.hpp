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

/// All of them, by the token that they begin with.
std::map<std::size_t, VolatileStore> find_volatile_stores(
    const std::vector<Token>& tokens, const std::vector<DeviceFunction>& functions);

/// The `;` or the `}` that ends each loop with an empty body, as in `while (*flag == 0);`: a thread
/// that waits there for another one.
std::vector<std::size_t> find_empty_loops(const std::vector<Token>& tokens,
                                          const std::vector<DeviceFunction>& functions);

/// Loops whose condition reads a volatile variable: where the conditions begin.
std::vector<std::size_t> find_watching_loops(const std::vector<Token>& tokens,
                                             const std::vector<DeviceFunction>& functions);

}  // namespace cuda_on_cpu
