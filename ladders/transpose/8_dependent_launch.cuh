/// @file
/// Rung 8, "dependent-launch": rung 7, launched before the kernel before it has ended.
///
/// To move 800 x 1000 floats takes less than it takes to launch the kernel. Here, the launch is
/// over when the kernel before ends; see dependent_launch.cuh. It pays where that one allows it, as
/// this one does: in the ladder, where the same kernel comes again and again.
///
/// Run it: `ladder transpose --rung dependent-launch`.
/// Work: as rung 7.
/// Measured on an H200, 4096 x 4096: 33.8 us in float, 69.3 us in double.
#pragma once

#include "ladders/transpose/7_vectors.cuh"

namespace stagewise::shared_memory {

/// Enqueues the transposition; it may start while the kernel before it runs.
template <typename T>
void transpose_by_dependent_launch(cudaStream_t stream, const TransposeProblem<T>& p, Workspace& workspace) {
  transpose_vectors<Start::early>(stream, p, workspace);
}

}  // namespace stagewise::shared_memory
