#include "cli/output.hpp"

#include <csignal>
#include <cstdlib>
#include <iostream>

namespace stagewise {
namespace {

// A signal handler has no other place to write to. NOLINTNEXTLINE(*-non-const-global-variables)
volatile std::sig_atomic_t pipe_was_closed = 0;

void note_closed_pipe(int /*signal*/) {
  pipe_was_closed = 1;
}

void set_handler(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGPIPE, &action, nullptr);
}

}  // namespace

void survive_closed_pipe() {
  struct sigaction before {};
  ::sigaction(SIGPIPE, nullptr, &before);
  if (before.sa_handler == SIG_DFL) set_handler(note_closed_pipe);
}

bool output_is_closed() {
  return !std::cout && pipe_was_closed != 0;
}

void end_by_closed_pipe() {
  set_handler(SIG_DFL);
  std::raise(SIGPIPE);
  std::_Exit(EXIT_FAILURE);  // where the signal is blocked
}

}  // namespace stagewise
