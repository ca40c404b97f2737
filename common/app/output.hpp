/// @file
/// Standard output whose reader may stop early: `train | head -1`.
#pragma once

namespace stagewise {

/// Thrown to end a program that only prints, once nobody reads its output any more.
struct OutputClosed {};

/// From here on, writing to a pipe that nobody reads fails, instead of ending the process before it
/// has saved what it was asked to save. Where the signal was ignored before, it still is.
void survive_closed_pipe();

/// Whether standard output is a pipe that nobody reads any more. Known only after something has
/// been written.
bool output_is_closed();

/// Ends the process as if survive_closed_pipe() had not been called: by the signal SIGPIPE, without
/// a word. Shells report that as exit code 141.
[[noreturn]] void end_by_closed_pipe();

}  // namespace stagewise
