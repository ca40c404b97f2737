/// @file
/// What every program of the project does around its own work: parse options, report errors,
/// notice that nobody reads the output.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace stagewise {

/// What a program does in addition if it is one of several processes.
struct ProgramHooks {
  /// Called before the command line is parsed.
  std::function<void()> before;

  /// Called with the message of a failure instead of printing it.
  /// @param has_begun whether `body` was running, so that other processes may wait for this one.
  std::function<void(const std::string& sentence, int exit_code, bool has_begun)> on_failure;
};

/// Parses the command line and runs `body`, turning every failure into one sentence on standard
/// error and an exit code: 2 for wrong usage, 1 for a run-time failure. Help texts go to standard
/// output with exit code 0.
/// @param app the options, already declared; `app.get_name()` begins every error.
/// @param body the program's work; its result is the exit code.
/// @return the exit code.
int run_program(CLI::App& app, int argc, const char* const* argv, const std::function<int()>& body,
                const ProgramHooks& hooks = {});

/// Thrown to end a program that only prints, when its output is no longer read.
struct OutputClosed {};

/// Whether standard output is a pipe that nobody reads any more. Known only after something has
/// been written.
bool output_is_closed();

/// Says on standard error that an option has no effect, which is no failure.
/// @param program its name.
/// @param option its name without dashes.
/// @param reason continues "it": "is for --model cnn".
void note_idle(const std::string& program, const std::string& option, const std::string& reason);

/// Lines of at most `width` characters, broken between words. Existing line breaks are kept.
std::string wrapped(const std::string& text, std::size_t width);

/// What `--version` prints: name and version of the project, compiler and build type.
std::string version_text();

}  // namespace stagewise
