/// @file
/// Standard output whose reader may stop early: `train | head -1`.
#pragma once

namespace stagewise {

/// Thrown to end a program that only prints, when its output is no longer read.
struct OutputClosed {};

/// From now on, writing to a pipe that nobody reads fails, instead of ending the process before it
/// has saved its results. If the signal was already ignored, it still is.
void survive_closed_pipe();

/// Whether standard output is a pipe that nobody reads any more. Known only after something has
/// been written.
bool output_is_closed();

/// Ends the process as if survive_closed_pipe() had not been called: with the signal SIGPIPE and
/// without a message. Shells report this as exit code 141.
[[noreturn]] void end_by_closed_pipe();

}  // namespace stagewise
