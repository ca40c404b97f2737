/// @file
/// How long the GPU takes for work, and for a launch alone.
#pragma once

#include <functional>
#include <optional>

#include "cuda/handles.hpp"

namespace stagewise::cuda {

/// Measures work by itself, on the GPU's clock. What takes the host longer to enqueue than the GPU
/// to do shows the time of the GPU: it is kept busy first, while the host enqueues. What the two
/// marks around the work take themselves is subtracted.
class Stopwatch {
 public:
  /// Waits for what is in the stream, then for `work`, which may itself wait for the stream.
  /// @return seconds from the beginning of the work to its end, a launch's latency included.
  double measure(const Stream& stream, const std::function<void()>& work);

 private:
  double between_marks(const Stream& stream, const std::function<void()>& work) const;

  TimedEvent start_;
  TimedEvent stop_;
  std::optional<double> marks_;  ///< seconds between two marks with nothing between them
};

/// Seconds that the current GPU takes for a kernel that does nothing, measured by a Stopwatch: what
/// is measured with one takes at least that long.
double launch_seconds();

}  // namespace stagewise::cuda
