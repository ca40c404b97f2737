/// @file
/// Which GPU a process computes on.
#pragma once

#include <string>

#include "mpi/world.hpp"

namespace stagewise::mpi {

/// Where the processes have found a place.
struct Placement {
  int processes_on_device = 1;      ///< that share this process's GPU, this one included
  int max_processes_on_device = 1;  ///< of any GPU
  int devices = 1;                  ///< GPUs that are used, on all hosts
};

/// Makes the GPU with the number of this process among those on its host the current one; where
/// there are more processes than GPUs, they take turns. Waits for the other ranks.
/// @throws Error if no GPU can be used.
Placement choose_device(World& world);

/// "2 processes on 1 host, each with a GPU of its own".
std::string describe(const World& world, const Placement& placement);

}  // namespace stagewise::mpi
