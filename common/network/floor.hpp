/// @file
/// The least time that a line can take on a device, whatever its kernel, and what sets it.
#pragma once

#include <cstdint>

#include "network/cost.hpp"
#include "tensor/device_limits.hpp"
#include "tensor/kernel_counters.hpp"

namespace stagewise {

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
