/// @file
/// Trainings with the products of this folder.
#pragma once

namespace stagewise {

/// `ladder blocked`: stage 01's program with the blocked product.
/// @param argc,argv the command line, beginning with "blocked".
/// @return the exit code.
int run_blocked(int argc, char** argv);

/// `ladder rungs`: stage 03's program with every rung of the ladders.
/// @param argc,argv the command line, beginning with "rungs".
/// @return the exit code.
int run_rungs(int argc, char** argv);

}  // namespace stagewise
