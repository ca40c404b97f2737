/// @file
/// What all stages tell about the GPU that they run on.
#pragma once

#include <utility>

#include "cli/stage.hpp"
#include "cuda/counters.hpp"
#include "cuda/device.hpp"
#include "cuda/stopwatch.hpp"
#include "network/cost.hpp"

namespace stagewise {

/// The current GPU's limits. Where kernels run on the CPU, an NVIDIA H200's: the floors are then
/// those of a GPU that is not there.
inline DeviceLimits gpu_limits(bool in_double) {
  if (cuda::runs_on_cpu()) {
    constexpr double multiprocessors = 132;
    constexpr double clock_rate = 1.98e9;
    return {.device = "an NVIDIA H200 (there is no GPU here)",
            .bytes_per_second = 4.8e12,
            .operations_per_second = 66.9e12,  // in double on its tensor cores
            .launch_seconds = 2e-6,
            .cache_bytes_per_second = multiprocessors * clock_rate * 128,
            .shared_cycles_per_second = multiprocessors * clock_rate};
  }
  return {.device = "this GPU",
          .bytes_per_second = cuda::memory_bandwidth(),
          .operations_per_second = cuda::peak_operations(in_double),
          .launch_seconds = cuda::launch_seconds()};
}

/// A stage on one GPU, or on CUDA on the CPU, without what it computes.
/// @param own what its program offers.
inline Stage gpu_stage(Offers own) {
  Stage stage(std::move(own));
  stage.device = cuda::describe_device;
  stage.cuda_on_cpu = cuda::runs_on_cpu();
  stage.counts_kernels = cuda::counts_kernels();
  stage.limits = gpu_limits;
  stage.libraries = cuda::describe_libraries;
  return stage;
}

}  // namespace stagewise
