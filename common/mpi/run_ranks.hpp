/// @file
/// What a program with several processes does before and after its own work.
#pragma once

#include <functional>
#include <string>

#include "cli/program.hpp"
#include "mpi/world.hpp"

namespace stagewise::mpi {

/// Initializes MPI and runs `body`. Output of ranks other than 0 is discarded.
/// @param program the program's name, with which its error messages begin.
/// @param argc,argv the command line, from which MPI removes its own options.
/// @param body receives what run_program() needs to make sure that all ranks were started with the
///        same options, and to end all of them when one fails. Its result is the exit code.
/// @return the exit code.
int run_ranks(const std::string& program, int& argc, char**& argv,
              const std::function<int(World&, const ProgramHooks&)>& body);

}  // namespace stagewise::mpi
