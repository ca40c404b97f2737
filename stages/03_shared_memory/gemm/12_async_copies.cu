/// @file
/// GEMM, rung 12: asynchronous copies to shared memory bypass the registers.
///
/// In rung 11, values in flight occupy registers, 8 numbers per thread, and take one more
/// instruction each to store. GPUs of compute capability 8.0 and above (Ampere) can copy from
/// global to shared memory asynchronously (`cp.async`): a thread requests the copies, multiplies,
/// and waits for them when it needs them.
///
/// The price: a copy cannot transpose a vector. If a factor lies along k in memory, single elements
/// are copied, in float 4 bytes each, because k tiles of 8 steps are too narrow for anything better
/// (see RowKTile in k_tile.cuh).
///
/// Run it: `ladder gemm --rung async-copies`.
/// Work: as rung 11, without the stores to shared memory.
/// Measured on an H200, 800 x 1000 x 784: 91.2 us in float, 99.7 us in double.

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
