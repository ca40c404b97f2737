/// @file
/// Names for stretches of the program's time, which Nsight Systems shows above the kernels.
#pragma once

#include <nvtx3/nvToolsExt.h>

namespace stagewise::cuda {

/// Names the time from its construction to its end. Costs nanoseconds where no profiler listens.
class Range {
 public:
  explicit Range(const char* name) { nvtxRangePushA(name); }
  ~Range() { nvtxRangePop(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

}  // namespace stagewise::cuda
