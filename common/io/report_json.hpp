/// @file
/// Parts that the reports of several programs have in common, as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "tensor/device_limits.hpp"
#include "tensor/kernel_counters.hpp"

namespace stagewise {

/// An object with a member for each counter.
nlohmann::ordered_json to_json(const KernelCounters& counters);

/// Likewise for each limit.
nlohmann::ordered_json to_json(const DeviceLimits& limits);

}  // namespace stagewise
