/// @file
/// `ladder persistent`: stage 04's program with kernels that stay on the GPU.
#pragma once

namespace stagewise {

/// Runs the program: trains small networks with one kernel for many steps, and answers single
/// images with one that waits for them.
/// @param argc,argv the command line, beginning with "persistent".
/// @return the exit code.
int run_persistent(int argc, char** argv);

}  // namespace stagewise
