/// @file
/// `ladder tf32`: stage 04's program with convolutions that round.
#pragma once

namespace stagewise {

/// Runs the program: the factors of convolutions are rounded to TF32, for tensor cores.
/// @param argc,argv the command line, beginning with "tf32".
/// @return the exit code.
int run_tf32(int argc, char** argv);

}  // namespace stagewise
