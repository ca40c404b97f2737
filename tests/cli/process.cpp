#include "cli/process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <pty.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace stagewise {
namespace {

constexpr int cannot_start = 127;

/// Never returns.
void become(const std::vector<std::string>& words, const Surroundings& surroundings) {
  if (!surroundings.folder.empty() && ::chdir(surroundings.folder.c_str()) != 0) {
    ::_exit(cannot_start);
  }
  for (const auto& [name, value] : surroundings.variables) {
    if (value) {
      ::setenv(name.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name.c_str());
    }
  }
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_DFL);  // as shells start them
  if (surroundings.heeds_permissions) {
    constexpr int override_permissions = 1;  // CAP_DAC_OVERRIDE of <linux/capability.h>
    constexpr int override_reading = 2;      // CAP_DAC_READ_SEARCH
    ::prctl(PR_CAPBSET_DROP, override_permissions, 0, 0, 0);
    ::prctl(PR_CAPBSET_DROP, override_reading, 0, 0, 0);
  }
  ::alarm(surroundings.longest_run);
  std::vector<std::string> copies = words;  // the call takes pointers to what it may change
  if (!surroundings.shell.empty()) {
    copies.insert(copies.begin(), {"/bin/sh", "-c", surroundings.shell, "sh"});
  }
  std::vector<char*> arguments;
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(arguments[0], arguments.data());
  ::_exit(cannot_start);
}

/// All of a file, whose place to write at stays where it is.
std::string contents(int file) {
  std::string text;
  std::array<char, 65536> buffer;
  for (ssize_t n = 0; (n = ::pread(file, buffer.data(), buffer.size(), std::ssize(text))) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
  return text;
}

/// What /proc says of a process.
struct ProcessState {
  char state = 'X';  ///< 'Z' if it has ended and nobody has asked how, 'X' if there is none
  pid_t parent = 0;
};

ProcessState state_of(pid_t process) {
  ProcessState state;
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');  // a name may have any character
  if (name_end == std::string::npos) return state;
  std::istringstream(text.substr(name_end + 1)) >> state.state >> state.parent;
  return state;
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

Process::Process(const std::vector<std::string>& words, const Surroundings& surroundings)
    : out_(::memfd_create("out", MFD_CLOEXEC)), err_(::memfd_create("err", MFD_CLOEXEC)), child_(::fork()) {
  if (out_ < 0 || err_ < 0 || child_ < 0) throw std::runtime_error("no process can be started");
  if (child_ == 0) {
    ::dup2(out_, STDOUT_FILENO);
    ::dup2(err_, STDERR_FILENO);
    become(words, surroundings);
  }
}

Process::~Process() {
  if (child_ >= 0) {
    kill();
    wait_for(child_);
  }
  ::close(out_);
  ::close(err_);
}

void Process::kill() const {
  if (child_ >= 0) ::kill(child_, SIGKILL);
}

Outcome Process::wait() {
  const int status = wait_for(child_);
  child_ = -1;
  Outcome outcome{.out = contents(out_), .err = contents(err_)};
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  return outcome;
}

std::string Process::output() const { return contents(out_); }

std::vector<pid_t> descendants_of(pid_t ancestor) {
  std::multimap<pid_t, pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const pid_t process = std::stoi(name);
    children.emplace(state_of(process).parent, process);
  }
  std::vector<pid_t> found = {ancestor};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [begin, end] = children.equal_range(found[i]);
    for (auto child = begin; child != end; ++child) found.push_back(child->second);
  }
  found.erase(found.begin());
  return found;
}

bool is_running(pid_t process) {
  const char state = state_of(process).state;
  return state != 'X' && state != 'Z';
}

Outcome run(const std::vector<std::string>& words, const Surroundings& surroundings) {
  return Process(words, surroundings).wait();
}

Outcome run_on_terminal(const std::vector<std::string>& words, const Surroundings& surroundings, TerminalWidth width) {
  winsize size = {.ws_row = 24, .ws_col = width.columns, .ws_xpixel = 0, .ws_ypixel = 0};
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child < 0) throw std::runtime_error("no terminal can be had");
  if (child == 0) become(words, surroundings);

  Outcome outcome;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t n = ::read(terminal, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;  // the program has ended
    outcome.out.append(buffer.data(), static_cast<std::size_t>(n));
    if (width.later != 0 && outcome.out.find("\033[K") != std::string::npos) {
      size.ws_col = width.later;
      ::ioctl(terminal, TIOCSWINSZ, &size);
    }
  }
  const int status = wait_for(child);
  ::close(terminal);
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  return outcome;
}

std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words;
  std::size_t end = 0;
  while (end < command.size()) {
    const std::size_t begin = command.find_first_not_of(' ', end);
    if (begin == std::string::npos) break;
    end = std::min(command.find(' ', begin), command.size());
    const std::string word = command.substr(begin, end - begin);
    words.push_back(word == "''" ? "" : word);
  }
  return words;
}

}  // namespace stagewise
