/// @file
/// How long the GPU takes for work, and for a launch alone.

#include <algorithm>
#include <array>

#include "cuda/check.hpp"
#include "cuda/device.hpp"
#include "cuda/stopwatch.hpp"

namespace stagewise::cuda {
namespace {

/// One thread waits for so many cycles of its multiprocessor.
__global__ void spin_kernel(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

void spin(const Stream& stream, long long cycles) {
  spin_kernel<<<1, 1, 0, stream.get()>>>(cycles);
  CUDA_CHECK_LAUNCH("spin");
}

/// About 20 us: the host enqueues some launches in that time.
constexpr long long head_start = 40'000;

template <typename Measure>
double median_of(const Measure& measure) {
  std::array<double, 31> seconds{};
  std::generate(seconds.begin(), seconds.end(), measure);
  const auto median = seconds.begin() + seconds.size() / 2;
  std::nth_element(seconds.begin(), median, seconds.end());
  return *median;
}

}  // namespace

double Stopwatch::between_marks(const Stream& stream, const std::function<void()>& work) const {
  stream.synchronize();
  if (!runs_on_cpu()) spin(stream, head_start);
  start_.record(stream);
  work();
  stop_.record(stream);
  stream.synchronize();
  return stop_.seconds_since(start_);
}

double Stopwatch::measure(const Stream& stream, const std::function<void()>& work) {
  if (runs_on_cpu()) return between_marks(stream, work);  // the host does the GPU's work
  if (!marks_) marks_ = median_of([&] { return between_marks(stream, [] {}); });
  return std::max(0.0, between_marks(stream, work) - *marks_);
}

double launch_seconds() {
  const Stream stream;
  Stopwatch stopwatch;
  const auto launch = [&] { spin(stream, 0); };
  stopwatch.measure(stream, launch);  // the first one also loads the kernel
  return median_of([&] { return stopwatch.measure(stream, launch); });
}

}  // namespace stagewise::cuda
