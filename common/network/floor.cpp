#include "network/floor.hpp"

#include <array>
#include <cstddef>

namespace stagewise {

const char* name_of(Bound bound) {
  constexpr std::array names = {"memory", "compute", "launch", "cache", "shared"};
  return names.at(static_cast<std::size_t>(bound));
}

namespace {

/// A floor that also takes an amount of something at so much per second.
void raise(Floor& floor, double amount, double per_second, Bound bound) {
  if (per_second <= 0 || amount / per_second <= floor.seconds) return;
  floor = {.seconds = amount / per_second, .bound = bound};
}

}  // namespace

Floor floor_of(const Cost& cost, double launches, const DeviceLimits& limits) {
  Floor floor = {.seconds = launches * limits.launch_seconds, .bound = Bound::launch};
  raise(floor, cost.bytes, limits.bytes_per_second, Bound::memory);
  raise(floor, cost.operations, limits.operations_per_second, Bound::compute);
  return floor;
}

Floor counted_floor_of(const KernelCounters& counters, double operations,
                       const DeviceLimits& limits) {
  Floor floor = floor_of({counters.distinct_bytes, operations}, counters.launches, limits);
  raise(floor, counters.asked_bytes(), limits.cache_bytes_per_second, Bound::cache);
  raise(floor, counters.shared_cycles, limits.shared_cycles_per_second, Bound::shared);
  return floor;
}

}  // namespace stagewise
