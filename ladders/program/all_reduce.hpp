/// @file
/// The subcommand all-reduce, which runs in several processes.
#pragma once

#include <vector>

#include "cuda/device.hpp"
#include "ladders/program/options.hpp"
#include "ladders/program/results.hpp"
#ifdef STAGEWISE_MPI
#include "mpi/world.hpp"
#endif

namespace stagewise::ladder {

/// The sum of a message over all processes, on the GPU of each; the reference is NCCL.
struct AllReduceOptions : Options {
  Index bytes = 0;  ///< of a message; 0: several sizes
};

/// Declares the options of the subcommand.
/// @param options receives their values.
void declare(CLI::App& command, AllReduceOptions& options);

#ifdef STAGEWISE_MPI
/// Runs the requested rungs, and prints each when it is done. Waits for the other ranks.
/// @throws Error if the only requested rung cannot be used. UsageError if there is one process
///         only, or if the message's size is no multiple of a number's.
Results run(const AllReduceOptions& options, mpi::World& world);
#endif

}  // namespace stagewise::ladder
