/// @file
/// Named time ranges, which Nsight Systems shows above the kernels.
#pragma once

#include <nvtx3/nvToolsExt.h>

namespace stagewise::cuda {

/// Names the time from its construction to its destruction. Costs nanoseconds without a profiler.
class Range {
 public:
  explicit Range(const char* name) { nvtxRangePushA(name); }
  ~Range() { nvtxRangePop(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

}  // namespace stagewise::cuda
