/// @file
/// What a device can do at most, which floors and rooflines rest on.
#pragma once

#include <string>

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

}  // namespace stagewise
