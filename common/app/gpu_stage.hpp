/// @file
/// What all stages tell about the GPU that they run on.
#pragma once

#include <utility>

#include "app/gpu_limits.hpp"
#include "app/stage.hpp"
#include "cuda/counters.hpp"
#include "cuda/device.hpp"

namespace stagewise {

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
