/// @file
/// Parts that the reports of several programs have in common, as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "tensor/kernel_counters.hpp"

namespace stagewise {

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): defined by nlohmann's macros
/// An object with a member for each counter.
void to_json(nlohmann::ordered_json& json, const KernelCounters& counters);

/// Likewise for each limit.
void to_json(nlohmann::ordered_json& json, const DeviceLimits& limits);
// NOLINTEND(readability-inconsistent-declaration-parameter-name)

}  // namespace stagewise
