/// @file
/// Which GPU a process computes on.
#pragma once

#include <string>

#include "mpi/world.hpp"

namespace stagewise::mpi {

/// How the processes are distributed over GPUs.
struct Placement {
  int processes_on_device = 1;      ///< sharing this process's GPU, including this one
  int max_processes_on_device = 1;  ///< the most on any GPU
  int devices = 1;                  ///< GPUs in use, on all hosts
  int processes = 1;                ///< on all hosts
  int hosts = 1;                    ///< that they are on
  bool are_linked = false;          ///< all GPUs by NVLink, and each process sees all
};

/// Makes a GPU the current one: the one whose number is this process's number among those of its
/// host, wrapping around if there are more processes than GPUs. Waits for the other ranks.
/// @throws Error if no GPU can be used.
Placement choose_device(World& world);

/// "2 processes on 1 host, each with a GPU of its own".
std::string describe(const World& world, const Placement& placement);

}  // namespace stagewise::mpi
