#include "app/progress.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/text.hpp"

namespace stagewise {

ProgressBar::ProgressBar(Index samples_per_epoch, std::int64_t first_epoch, std::int64_t last_epoch,
                         std::string unit)
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
  const double done =
      static_cast<double>(epoch - first_epoch_) * per_epoch + static_cast<double>(samples);
  if (done <= 0) return;  // no speed yet
  last_drawn_ = now;
  const double all = static_cast<double>(last_epoch_ - first_epoch_ + 1) * per_epoch;
  const auto seconds_left = static_cast<std::int64_t>(std::lround(elapsed * (all - done) / done));
  const double fraction = static_cast<double>(samples) / per_epoch;

  const std::string seconds = std::to_string(seconds_left % 60);
  const std::string head = "epoch " + std::to_string(epoch) + "/" + std::to_string(last_epoch_);
  std::string percent = " " + right(std::to_string(static_cast<int>(fraction * 100)), 3) + "%";
  std::string left = "  " + std::to_string(seconds_left / 60) + ":" +
                     (seconds.size() < 2 ? "0" : "") + seconds + " left";
  std::string speed = "  " + rate(done / elapsed) + " " + unit_ + "/s";

  // The most important first: what does not fit is omitted.
  std::size_t room = StatusLine::room();
  room -= std::min(room, head.size());
  const auto fit = [&](std::string& piece) {
    if (piece.size() > room) piece.clear();
    room -= piece.size();
  };
  fit(percent);
  fit(left);
  constexpr std::size_t narrowest = 4;
  constexpr std::size_t widest = 24;
  constexpr std::size_t frame = 3;  // " []"
  std::string bar;
  if (room >= frame + narrowest) {
    const std::size_t width = std::min(widest, room - frame);
    const auto full = static_cast<std::size_t>(fraction * static_cast<double>(width));
    bar = " [" + std::string(full, '=') + std::string(width - full, '.') + "]";
  }
  fit(bar);
  fit(speed);
  line_.show((head + bar + percent + speed + left).c_str());
}

}  // namespace stagewise
