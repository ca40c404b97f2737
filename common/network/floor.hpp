/// @file
/// The least time that a line can take on a device, whatever its kernel, and what sets it.
#pragma once

#include <cstdint>
#include <string>

#include "network/cost.hpp"

namespace stagewise {

/// What a device can do at most. Zero: unknown.
struct DeviceLimits {
  std::string device;                ///< "this GPU"
  double bytes_per_second = 0;       ///< between its memory and its processors
  double operations_per_second = 0;  ///< of floating-point arithmetic in the precision at hand
  double launch_seconds = 0;         ///< of a kernel that does nothing
};

/// What keeps a line from being faster: it is memory-bound, compute-bound or launch-bound.
enum class Bound : std::uint8_t { memory, compute, launch };

/// "memory", "compute", "launch".
const char* name_of(Bound bound);

/// The largest of the times for the bytes, for the operations and for the launches alone.
struct Floor {
  double seconds = 0;
  Bound bound = Bound::launch;
};

/// The floor of `launches` launches that together move and compute what `cost` says. A limit that
/// is unknown bounds nothing.
Floor floor_of(const Cost& cost, double launches, const DeviceLimits& limits);

}  // namespace stagewise
