/// @file
/// Kernels that take long: how far they are, and where a block is that does not come to its end.
#pragma once

#include "cuda_on_cpu/block.hpp"
#include "cuda_on_cpu/settings.hpp"

namespace cuda_on_cpu {

/// While it lives, a thread watches whether the calling one gets blocks of the launch done, if
/// STAGEWISE_CPU_PROGRESS asks for it.
class Watched {
 public:
  explicit Watched(const RunningLaunch& launch) : is_watched_(settings().progress != Progress::off) {
    if (is_watched_) begin(launch);
  }
  ~Watched() {
    if (is_watched_) end();
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

 private:
  static void begin(const RunningLaunch& launch);
  static void end();

  bool is_watched_;
};

/// In the child of a fork(): the thread that watches is not there any more.
void forget_watch();

}  // namespace cuda_on_cpu
