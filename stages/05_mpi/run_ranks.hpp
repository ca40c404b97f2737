/// @file
/// What a program of several processes does around its own work.
#pragma once

#include <functional>
#include <string>

#include "app/program.hpp"
#include "mpi/world.hpp"

namespace stagewise::mpi {

/// Begins MPI and runs `body`. What ranks other than 0 print is not seen.
/// @param program the program's name, with which its errors begin.
/// @param argc,argv the command line, out of which MPI takes its own options.
/// @param body gets what run_program() needs to make sure that all ranks were started alike, and to
///        end all of them when one fails. Its result is the exit code.
/// @return the exit code.
int run_ranks(const std::string& program, int& argc, char**& argv,
              const std::function<int(World&, const ProgramHooks&)>& body);

}  // namespace stagewise::mpi
