/// @file
/// A stage's program with another convolution, as subcommands of the program `ladder`.
#pragma once

namespace stagewise::ladders {

/// `ladder im2col`: stage 03 with convolutions by im2col.
/// @param argv begins with the program's name, then what follows `im2col`.
/// @return the exit code, as run_stage().
int run_im2col(int argc, const char* const* argv);

/// `ladder tf32`: stage 04 with convolutions whose factors are rounded to TF32.
int run_tf32(int argc, const char* const* argv);

}  // namespace stagewise::ladders
