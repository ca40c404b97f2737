/// @file
/// GEMM, rung 13: the steps along k of all tiles are dealt out evenly to the blocks.
///
/// Rung 12 gives a block a tile. A product of 800 x 1000 has 56 tiles of 128 x 128: on a GPU with
/// 132 multiprocessors, more than half stand idle. Smaller tiles give more blocks, but 208 tiles of
/// 64 x 64 are still two rounds, the second of them not half full. And the gradient of a layer's
/// weights has few tiles and a long k. So the work is not divided by tiles but by k tiles, the
/// steps along k: every block gets as many as the others, and blocks that share a tile add up what
/// they have (stream_k.cuh).
///
/// Run it: `ladder gemm --rung stream-k`.
/// Work: as rung 12; for each split tile, its sums are written to and read from the workspace once
/// for each block that shares it.

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
