/// @file
/// GEMM, rung 13: every block gets the same number of k tiles.
///
/// Rung 12 gives each block one tile. A product of 800 x 1000 has 56 tiles of 128 x 128, so on a
/// GPU with 132 multiprocessors, more than half are idle. Smaller tiles give more blocks, but 208
/// tiles of 64 x 64 still take two waves, the second of which is hardly more than half full. And
/// the gradient of a layer's weights has few tiles and a long k. So the unit of work is not the
/// tile but the k tile, a few steps along k: every block gets the same number of k tiles, and
/// blocks that share a tile add up their partial sums (stream_k.cuh).
///
/// Run it: `ladder gemm --rung stream-k`.
/// Work: as rung 12; the sums of a split tile are written to and read from the workspace once
/// for each block that shares the tile.
/// Measured on an H200, 800 x 1000 x 784: 42.5 us in float, 106.5 us in double.

#include "03_shared_memory/gemm/rungs.hpp"
#include "03_shared_memory/gemm/stream_k.cuh"

namespace stagewise::shared_memory {

template <typename T>
void gemm_stream_k(cudaStream_t stream, const GemmProblem<T>& p, Workspace& workspace) {
  with_loaders(p, [&](const auto& a, const auto& b) {
    multiply_stream_k<T>(stream, p.m, p.n, p.k, a, b, AlphaBeta<T>(p), workspace);
  });
}

template void gemm_stream_k(cudaStream_t, const GemmProblem<float>&, Workspace&);
template void gemm_stream_k(cudaStream_t, const GemmProblem<double>&, Workspace&);

}  // namespace stagewise::shared_memory
