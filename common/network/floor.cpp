#include "network/floor.hpp"

namespace stagewise {

const char* name_of(Bound bound) {
  switch (bound) {
    case Bound::memory:
      return "memory";
    case Bound::compute:
      return "compute";
    case Bound::launch:
      return "launch";
  }
  return "";
}

Floor floor_of(const Cost& cost, double launches, const DeviceLimits& limits) {
  Floor floor = {.seconds = launches * limits.launch_seconds, .bound = Bound::launch};
  const auto raise = [&](double amount, double per_second, Bound bound) {
    if (per_second <= 0 || amount / per_second <= floor.seconds) return;
    floor = {.seconds = amount / per_second, .bound = bound};
  };
  raise(cost.bytes, limits.bytes_per_second, Bound::memory);
  raise(cost.operations, limits.operations_per_second, Bound::compute);
  return floor;
}

}  // namespace stagewise
