/// @file
/// What kernels ask of memory, where that is counted: with CUDA on the CPU, in the preset observed.
#pragma once

#include <cstdint>

namespace stagewise::cuda {

/// What the warps of some launches have asked for.
struct MemoryCounters {
  double sectors_per_load = 0;       ///< of 32 bytes of global memory; 0 if there were no loads
  double sectors_per_store = 0;      ///< likewise, atomic functions included
  double bytes = 0;                  ///< of global memory, in whole sectors
  std::uint64_t bank_conflicts = 0;  ///< cycles that shared memory takes longer for them
};

/// Whether kernels are counted in this program.
bool counts_memory();

/// What the kernels have asked for that ran since the last call. The first one begins to count.
MemoryCounters take_memory_counters();

}  // namespace stagewise::cuda
