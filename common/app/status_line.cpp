#include "app/status_line.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

#include "tensor/counts.hpp"

namespace stagewise {
namespace {

bool can_erase_lines() {
  const char* const terminal = std::getenv("TERM");
  return terminal != nullptr && *terminal != '\0' && std::string_view(terminal) != "dumb";
}

}  // namespace

StatusLine::StatusLine() : is_on_(::isatty(STDERR_FILENO) != 0 && can_erase_lines()) {}

std::size_t StatusLine::room() {
  constexpr std::size_t usual = 80;
  winsize size{};
  const bool is_known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return (is_known ? size.ws_col : usual) - 1;
}

void StatusLine::show(const char* text) {
  if (!is_on_) return;
  std::fprintf(stderr, "\r\033[K%.*s", static_cast<int>(room()), text);
  std::fflush(stderr);
  is_visible_ = true;
}

void StatusLine::clear() {
  if (!is_visible_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  is_visible_ = false;
}

std::function<void(std::uint64_t, std::uint64_t)> show_bytes(const std::string& done,
                                                             const std::string& what) {
  return [=, line = std::make_shared<StatusLine>()](std::uint64_t bytes, std::uint64_t all) {
    if (bytes == all) return line->clear();
    line->show((done + " " + size_text(bytes) + " of " + size_text(all) + " " + what).c_str());
  };
}

}  // namespace stagewise
