#include "app/progress.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include <unistd.h>

#include "app/text.hpp"

namespace stagewise {

ProgressBar::ProgressBar(Index samples_per_epoch, std::int64_t first_epoch, std::int64_t last_epoch,
                         std::string unit)
    : samples_per_epoch_(samples_per_epoch),
      first_epoch_(first_epoch),
      last_epoch_(last_epoch),
      unit_(std::move(unit)),
      on_terminal_(::isatty(STDERR_FILENO) != 0) {}

void ProgressBar::show(std::int64_t epoch, Index samples) {
  if (!on_terminal_) return;
  const Clock::time_point now = Clock::now();
  if (now - last_drawn_ < std::chrono::milliseconds(100)) return;

  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const auto per_epoch = static_cast<double>(samples_per_epoch_);
  const double done =
      static_cast<double>(epoch - first_epoch_) * per_epoch + static_cast<double>(samples);
  if (done <= 0) return;  // no speed yet
  last_drawn_ = now;
  const double all = static_cast<double>(last_epoch_ - first_epoch_ + 1) * per_epoch;
  const auto seconds_left = static_cast<long>(std::lround(elapsed * (all - done) / done));
  const double fraction = static_cast<double>(samples) / per_epoch;

  std::array<char, 25> bar{};
  constexpr int width = bar.size() - 1;
  const int filled = static_cast<int>(fraction * width);
  std::fill_n(bar.begin(), width, '.');
  std::fill_n(bar.begin(), filled, '=');

  const std::string speed = rate(done / elapsed);  // short enough to need no allocation
  // 79 columns at most: a line that wraps could not be taken back.
  std::array<char, 80> line{};
  std::snprintf(line.data(), line.size(), "epoch %ld/%ld [%s] %3d%%  %s %s/s  %ld:%02ld left",
                static_cast<long>(epoch), static_cast<long>(last_epoch_), bar.data(),
                static_cast<int>(fraction * 100), speed.c_str(), unit_.c_str(), seconds_left / 60,
                seconds_left % 60);
  std::fprintf(stderr, "\r\033[K%s", line.data());
  std::fflush(stderr);
  visible_ = true;
}

void ProgressBar::clear() {
  if (!visible_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  visible_ = false;
}

}  // namespace stagewise
