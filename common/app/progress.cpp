#include "app/progress.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "app/text.hpp"

namespace stagewise {
namespace {

/// A part of the line, in memory of its own.
class Piece {
 public:
  static constexpr std::size_t longest = 64;

  /// @param values as printf() takes them.
  template <typename... Values>
  explicit Piece(const char* format, Values... values) {
    std::snprintf(text_.data(), text_.size(), format, values...);
  }

  const char* text() const { return text_.data(); }

  /// Takes its part of the room, or is omitted.
  void fit_into(std::size_t& room) {
    const std::size_t length = std::strlen(text_.data());
    if (length > room) {
      text_.front() = '\0';
    } else {
      room -= length;
    }
  }

 private:
  std::array<char, longest> text_{};
};

}  // namespace

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
  const auto seconds_left = static_cast<long>(std::lround(elapsed * (all - done) / done));
  const double fraction = static_cast<double>(samples) / per_epoch;

  const std::string speed = rate(done / elapsed);  // short enough to need no allocation
  Piece head("epoch %ld/%ld", static_cast<long>(epoch), static_cast<long>(last_epoch_));
  Piece percent(" %3d%%", static_cast<int>(fraction * 100));
  Piece left("  %ld:%02ld left", seconds_left / 60, seconds_left % 60);
  Piece images("  %s %s/s", speed.c_str(), unit_.c_str());

  // The most important first: what does not fit is omitted.
  std::size_t room = StatusLine::room();
  for (Piece* const piece : {&head, &percent, &left}) piece->fit_into(room);
  constexpr std::size_t narrowest = 4;
  constexpr std::size_t widest = 24;
  constexpr std::size_t frame = 3;  // " []"
  std::array<char, widest + 1> cells{};
  if (room >= frame + narrowest) {
    const std::size_t width = std::min(widest, room - frame);
    std::fill_n(cells.begin(), width, '.');
    std::fill_n(cells.begin(), static_cast<std::size_t>(fraction * static_cast<double>(width)),
                '=');
  }
  Piece bar(cells.front() == '\0' ? "%s" : " [%s]", cells.data());
  bar.fit_into(room);
  images.fit_into(room);

  std::array<char, 5 * Piece::longest> line{};
  std::snprintf(line.data(), line.size(), "%s%s%s%s%s", head.text(), bar.text(), percent.text(),
                images.text(), left.text());
  line_.show(line.data());
}

}  // namespace stagewise
