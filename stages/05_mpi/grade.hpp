/// @file
/// The grading modes of report 000: is the parallel program right?
#pragma once

#include <functional>

#include "05_mpi/devices.hpp"
#include "05_mpi/mpi_ranks.hpp"
#include "app/stage.hpp"

namespace stagewise::mpi {

/// The subcommand grade. Modes 1 to 3 train the same network in parallel and by stage 01's loops,
/// and compare every parameter in the manner of the report's table 1; mode 4 multiplies matrices.
/// @param place chooses the GPU. All arguments must outlive the command.
StageCommand grade_command(World& world, MpiRanks& ranks, const std::function<Placement()>& place);

}  // namespace stagewise::mpi
