/// @file
/// Runs a program as a user would, and keeps what it says.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace stagewise {

/// What a program finds around it.
struct Surroundings {
  std::filesystem::path folder;  ///< the working directory

  /// Environment variables to set, or to unset where there is no value.
  std::map<std::string, std::optional<std::string>> variables;

  /// What a shell runs instead, in which "$@" is the program: `ulimit -v 1000; exec "$@"`.
  std::string shell;

  /// Seconds after which SIGALRM ends the program, so that none hangs the tests.
  unsigned longest_run = 300;

  /// Also root must ask for permission. Others must anyway.
  bool heeds_permissions = false;
};

/// How a program ended.
struct Outcome {
  int exit_code = -1;  ///< -1 if a signal ended it
  int signal = 0;
  std::string out;
  std::string err;
};

/// A running program.
class Process {
 public:
  /// @param words the program's path and its arguments.
  Process(const std::vector<std::string>& words, const Surroundings& surroundings);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t id() const { return child_; }

  /// What it has written to standard output so far.
  std::string output() const;

  /// SIGKILL; does nothing if the program has ended.
  void kill() const;

  /// Waits for the end.
  Outcome wait();

 private:
  int out_ = -1;
  int err_ = -1;
  pid_t child_ = -1;
};

/// The processes that this one has started, those that these have started, and so on.
std::vector<pid_t> descendants_of(pid_t ancestor);

/// Whether there is such a process, and it has not ended.
bool is_running(pid_t process);

/// Runs a program to its end.
Outcome run(const std::vector<std::string>& words, const Surroundings& surroundings);

/// How many columns a terminal of 24 lines has.
struct TerminalWidth {
  unsigned short columns = 80;
  unsigned short later = 0;  ///< once something has been drawn over; 0: as before
};

/// Runs a program whose standard output and standard error are a terminal. What it has written
/// there is in `out`.
Outcome run_on_terminal(const std::vector<std::string>& words, const Surroundings& surroundings,
                        TerminalWidth width = {});

/// The words of a command line; '' stands for an empty one.
std::vector<std::string> words_of(const std::string& command);

}  // namespace stagewise
