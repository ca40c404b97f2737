/// @file
/// What tests in several processes have in common.
#pragma once

#include "mpi/devices.hpp"
#include "mpi/world.hpp"

namespace stagewise {

/// The processes that run the tests.
mpi::World& test_world();

/// Where they have found a place.
/// @throws Error if that cannot be; main() has asked for it.
const mpi::Placement& test_placement();

}  // namespace stagewise
