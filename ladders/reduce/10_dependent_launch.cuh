/// @file
/// Rung 10, "dependent-launch": rung 9, launched before the kernel before it has ended.
///
/// Of the time for 2^20 floats, a good part goes by before the first of them is asked for. Here,
/// the launch is over when the kernel before ends; see dependent_launch.cuh. It pays where that one
/// allows it, as this one does: in the ladder, where the same kernel comes again and again.
///
/// Run it: `ladder reduce --rung dependent-launch`.
/// Work: as rung 9.
/// Measured on an H200, 2^20 numbers: 3.06 us in float, 3.37 us in double.
#pragma once

#include "ladders/reduce/9_sentinel.cuh"

namespace stagewise::shared_memory {

/// Enqueues the sum; it may start while the kernel before it runs.
template <typename T>
void sum_by_dependent_launch(cudaStream_t stream, const SumProblem<T>& p, Workspace& workspace) {
  sum_by_sentinels<Start::early>(stream, p, workspace);
}

}  // namespace stagewise::shared_memory
