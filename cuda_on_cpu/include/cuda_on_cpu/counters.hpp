/// @file
/// What kernels ask of memory, for programs that show it. Like a profiler on a GPU; see counts.cpp.
#pragma once

#include <cstdint>

namespace cuda_on_cpu {

/// Accesses of one kind.
struct AccessCounts {
  std::uint64_t requests = 0;    ///< of warps
  std::uint64_t lanes = 0;       ///< that took part in them
  std::uint64_t bytes = 0;       ///< that the lanes asked for
  std::uint64_t sectors = 0;     ///< of 32 bytes of global memory
  std::uint64_t wavefronts = 0;  ///< cycles in which shared memory serves them
  std::uint64_t conflicts = 0;   ///< of them, those that conflicts of banks add

  AccessCounts& operator+=(const AccessCounts& other) {
    requests += other.requests;
    lanes += other.lanes;
    bytes += other.bytes;
    sectors += other.sectors;
    wavefronts += other.wavefronts;
    conflicts += other.conflicts;
    return *this;
  }
  AccessCounts operator-(const AccessCounts& other) const {
    return {requests - other.requests, lanes - other.lanes,           bytes - other.bytes,
            sectors - other.sectors,   wavefronts - other.wavefronts, conflicts - other.conflicts};
  }
};

/// Of all launches so far.
struct MemoryCounts {
  AccessCounts loads;  ///< of global memory, like the next two
  AccessCounts stores;
  AccessCounts atomics;
  AccessCounts shared_loads;
  AccessCounts shared_stores;
  AccessCounts shared_atomics;
  std::uint64_t distinct_bytes = 0;  ///< of global memory that a launch touches, in whole sectors
};

/// Whether the program's kernels report their accesses, and so can be counted.
extern bool kernels_report_accesses;

/// Counts from now on. Call it only if `kernels_report_accesses`.
void count_accesses();

/// What has been counted so far; nothing unless count_accesses() was called.
MemoryCounts counted_accesses();

}  // namespace cuda_on_cpu
