/// @file
/// GEMM, rung 12: the next tile goes to shared memory without passing through registers.
///
/// In rung 11, what is on its way waits in registers: 8 numbers a thread that the sums could use,
/// and an instruction each to store them. GPUs from compute capability 8.0 on (Ampere) copy from
/// global to shared memory by themselves (`cp.async`): the thread asks for the copies, multiplies,
/// and waits for them when it needs them.
///
/// The price: a copy cannot turn a vector around. Where the factor lies along k in memory, single
/// elements are copied in float, 4 bytes each, as k tiles of 8 steps are too narrow for anything
/// better (see RowKTile in k_tile.cuh).
///
/// Run it: `ladder gemm --rung async-copies`.
/// Work: as rung 11, without the stores to shared memory.

#include "03_shared_memory/gemm/rungs.hpp"
#include "03_shared_memory/gemm/whole_tiles.cuh"

namespace stagewise::shared_memory {

template <typename T>
void gemm_async_copies(cudaStream_t stream, const GemmProblem<T>& p, Workspace& /*workspace*/) {
  with_loaders(p, [&](const auto& a, const auto& b) {
    multiply_whole_tiles<AsyncCopies, async_stages, T, typename Tilings<T>::Large>(
        stream, p.m, p.n, p.k, a, b, AlphaBeta<T>(p));
  });
}

template void gemm_async_copies(cudaStream_t, const GemmProblem<float>&, Workspace&);
template void gemm_async_copies(cudaStream_t, const GemmProblem<double>&, Workspace&);

}  // namespace stagewise::shared_memory
