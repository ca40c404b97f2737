/// @file
/// The OS threads that share the blocks of a launch.
#pragma once

#include "cuda_on_cpu/block.hpp"

namespace cuda_on_cpu {

/// Runs a launch to its end. One at a time: the caller holds the engine's mutex (stream.hpp).
void run(RunningLaunch& launch);

/// How many OS threads share the blocks: the processors of this process, divided by the MPI
/// processes on this machine.
unsigned worker_count();

/// In the child of a fork(): the other threads are not there any more.
void forget_pool();

}  // namespace cuda_on_cpu
