/// @file
/// What is counted of a kernel's accesses, and the table that shows it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "cuda_on_cpu/counters.hpp"

namespace cuda_on_cpu {

/// What accesses are counted as; the numbers are those of kind_of().
enum class AccessKind : std::uint8_t {
  global_load,
  global_store,
  global_atomic,
  shared_load,
  shared_store,
  shared_atomic
};
/// Their names.
inline constexpr std::array kinds{"global loads", "global stores", "global atomics",
                                  "shared loads", "shared stores", "shared atomics"};

/// All launches of a kernel.
struct KernelCounts {
  std::uint64_t launches = 0;
  std::uint64_t blocks = 0;
  std::uint64_t threads = 0;
  std::uint64_t barriers = 0;         ///< passed by blocks
  std::uint64_t distinct_loaded = 0;  ///< bytes of global memory, in whole sectors, by launch
  std::uint64_t distinct_stored = 0;
  std::map<std::pair<std::uintptr_t, AccessKind>, AccessCounts> instructions;
};

/// Writes a kernel's table to stderr.
void print_kernel(const std::string& name, const KernelCounts& kernel);

}  // namespace cuda_on_cpu
