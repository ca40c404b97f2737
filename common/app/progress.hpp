/// @file
/// The progress bar of a training run.
#pragma once

#include <chrono>
#include <string>

#include "app/status_line.hpp"
#include "tensor/shape.hpp"

namespace stagewise {

/// A bar that fills during an epoch, with samples per second and the time left of the whole run, as
/// far as there is room.
class ProgressBar {
 public:
  /// @param samples_per_epoch how many samples fill the bar.
  /// @param first_epoch, last_epoch the epochs that will run, counted from 1.
  /// @param unit what a sample is called: "images".
  ProgressBar(Index samples_per_epoch, std::int64_t first_epoch, std::int64_t last_epoch,
              std::string unit);

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

}  // namespace stagewise
