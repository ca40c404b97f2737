#include "cli/status_line.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/text.hpp"

namespace stagewise {
namespace {

bool can_erase_lines() {
  const char* const terminal = std::getenv("TERM");
  return terminal != nullptr && *terminal != '\0' && std::string_view(terminal) != "dumb";
}

}  // namespace

std::size_t terminal_columns(int descriptor) {
  winsize size{};
  const bool is_known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : 80;
}

StatusLine::StatusLine() : is_on_(::isatty(STDERR_FILENO) != 0 && can_erase_lines()) {}

std::size_t StatusLine::room() { return terminal_columns(STDERR_FILENO) - 1; }

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

ProgressBar::ProgressBar(Index samples_per_epoch, std::int64_t first_epoch, std::int64_t last_epoch, std::string unit)
    : samples_per_epoch_(samples_per_epoch),
      first_epoch_(first_epoch),
      last_epoch_(last_epoch),
      unit_(std::move(unit)) {}

void ProgressBar::show(std::int64_t epoch, Index samples) {
  if (!line_.is_on()) return;
  const Clock::time_point now = Clock::now();
  if (now - last_drawn_ < std::chrono::milliseconds(100)) return;

  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const auto per_epoch = static_cast<double>(samples_per_epoch_);
  const double done = static_cast<double>(epoch - first_epoch_) * per_epoch + static_cast<double>(samples);
  if (done <= 0) return;  // no speed yet
  last_drawn_ = now;
  const double all = static_cast<double>(last_epoch_ - first_epoch_ + 1) * per_epoch;
  const auto seconds_left = static_cast<std::int64_t>(std::lround(elapsed * (all - done) / done));
  const double fraction = static_cast<double>(samples) / per_epoch;

  const std::string seconds = std::to_string(100 + seconds_left % 60).substr(1);
  constexpr double width = 20;
  const auto full = static_cast<std::size_t>(fraction * width);
  const std::string bar(full, '=');
  std::string line = "epoch " + std::to_string(epoch) + "/" + std::to_string(last_epoch_);
  // The most important first: what does not fit is omitted.
  for (const std::string& piece : {" " + right(std::to_string(static_cast<int>(fraction * 100)), 3) + "%",
                                   "  " + std::to_string(seconds_left / 60) + ":" + seconds + " left",
                                   " [" + bar + std::string(static_cast<std::size_t>(width) - full, '.') + "]",
                                   "  " + rate(done / elapsed) + " " + unit_ + "/s"}) {
    if (line.size() + piece.size() > StatusLine::room()) break;
    line += piece;
  }
  line_.show(line.c_str());
}

std::function<void(std::uint64_t, std::uint64_t)> show_bytes(const std::string& done, const std::string& what) {
  return [=, line = std::make_shared<StatusLine>()](std::uint64_t bytes, std::uint64_t all) {
    if (bytes == all) return line->clear();
    line->show((done + " " + size_text(bytes) + " of " + size_text(all) + " " + what).c_str());
  };
}

}  // namespace stagewise
