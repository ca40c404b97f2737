#include "io/interruption.hpp"

#include <array>
#include <csignal>
#include <utility>

#include <unistd.h>

namespace stagewise {
namespace {

/// The files to remove; null if there is none. They are kept here because a handler has no
/// arguments and may access little. If there are more files, the others are not removed.
// NOLINTNEXTLINE(*-non-const-global-variables)
std::array<std::atomic<const char*>, 16> files;
static_assert(std::atomic<const char*>::is_always_lock_free, "a signal's handler must not wait");

/// It does only what POSIX allows in a handler.
void remove_files_and_end(int signal) {
  for (std::atomic<const char*>& file : files) {
    const char* const path = file.exchange(nullptr);
    if (path != nullptr) ::unlink(path);
  }
  ::raise(signal);  // again, and as SA_RESETHAND says it now does what it does by default
}

/// Again for each file, as other code may have changed what a signal does.
void install_handlers() {
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU}) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action = {};
    action.sa_handler = remove_files_and_end;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace

RemovedOnInterruption::RemovedOnInterruption(std::string path) : path_(std::move(path)) {
  install_handlers();
  for (std::atomic<const char*>& file : files) {
    const char* nobody = nullptr;
    if (!file.compare_exchange_strong(nobody, path_.c_str())) continue;
    place_ = &file;
    return;
  }
}

RemovedOnInterruption::~RemovedOnInterruption() {
  if (place_ == nullptr || place_->exchange(nullptr) != nullptr) return;
  // Another thread is in the handler and may still read the path: the process is about to end.
  for (;;) ::pause();
}

}  // namespace stagewise
