/// @file
/// What tests in several processes have in common.
#pragma once

#include "mpi/world.hpp"

namespace stagewise {

/// The processes that run the tests.
mpi::World& test_world();

}  // namespace stagewise
