/// @file
/// A line on the terminal that says what is going on, and goes away.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "tensor/shape.hpp"

namespace stagewise {

/// How many columns an output has now, as windows change their size: 80 if it is no terminal.
std::size_t terminal_columns(int descriptor);

/// One line on standard error that overwrites itself. Shows nothing if that is not a terminal, or
/// one that cannot erase a line (TERM=dumb). Uses no colours.
class StatusLine {
 public:
  /// Finds out what standard error is.
  StatusLine();
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  /// Whether anything is shown at all.
  bool is_on() const { return is_on_; }

  /// How many characters can be shown now: all columns but one, because a line that wraps could not
  /// be erased.
  static std::size_t room();

  /// Shows the text, cut to fit.
  void show(const char* text);

  /// Removes the line, so that another one can be printed in its place.
  void clear();

 private:
  bool is_on_;
  bool is_visible_ = false;
};

/// A bar that fills during an epoch, with samples per second and the time left of the whole run, as
/// far as there is room.
class ProgressBar {
 public:
  /// @param samples_per_epoch how many samples fill the bar.
  /// @param first_epoch, last_epoch the epochs that will run, counted from 1.
  /// @param unit what a sample is called: "images".
  ProgressBar(Index samples_per_epoch, std::int64_t first_epoch, std::int64_t last_epoch, std::string unit);

  /// Redraws, at most ten times a second.
  void show(std::int64_t epoch, Index samples);

  /// Removes the bar, so that a line can be printed in its place.
  void clear() { line_.clear(); }

 private:
  using Clock = std::chrono::steady_clock;

  Index samples_per_epoch_;
  std::int64_t first_epoch_;
  std::int64_t last_epoch_;
  std::string unit_;
  StatusLine line_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_drawn_;
};

/// A function that shows how many bytes of all have been sent, until it is told that all have:
/// "rank 0 has sent 3 MB of 12 MB of samples".
/// @param done,what what comes before and after the sizes.
std::function<void(std::uint64_t, std::uint64_t)> show_bytes(const std::string& done, const std::string& what);

}  // namespace stagewise
