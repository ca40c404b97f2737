/// @file
/// The least time that a line can take on a device, whatever its kernel, and what sets it.
#pragma once

#include <cstdint>
#include <string>

#include "network/cost.hpp"
#include "tensor/kernel_counters.hpp"

namespace stagewise {

/// What a device can do at most. Zero: unknown.
struct DeviceLimits {
  std::string device;                   ///< "this GPU"
  double bytes_per_second = 0;          ///< between its memory and its processors
  double operations_per_second = 0;     ///< of floating-point arithmetic in the precision at hand
  double launch_seconds = 0;            ///< of a kernel that does nothing
  double cache_bytes_per_second = 0;    ///< from the L1 caches of all multiprocessors
  double shared_cycles_per_second = 0;  ///< of the shared memory of all multiprocessors
};

/// What keeps a line from being faster: it is memory-bound, compute-bound or launch-bound; of
/// kernels that are counted also the requests to the L1 cache or to shared memory.
enum class Bound : std::uint8_t { memory, compute, launch, cache, shared };

/// "memory", "compute", "launch", "cache", "shared".
const char* name_of(Bound bound);

/// The largest of the times for the bytes, for the operations and for the launches alone.
struct Floor {
  double seconds = 0;
  Bound bound = Bound::launch;
};

/// The floor of `launches` launches that together move and compute what `cost` says. A limit that
/// is unknown bounds nothing.
Floor floor_of(const Cost& cost, double launches, const DeviceLimits& limits);

/// The floor of launches that do what is counted, and `operations`: each byte that a launch touches
/// comes from memory once, and what its warps ask for comes from the L1 caches.
Floor counted_floor_of(const KernelCounters& counters, double operations,
                       const DeviceLimits& limits);

}  // namespace stagewise
