/// @file
/// GEMM, rung 11: rung 10, made of parts.
///
/// No bottleneck goes; what goes is repetition. The next rungs load in another way, or begin and
/// end elsewhere along k; the convolution takes its factors from images; stage 04 does more with a
/// finished element. All of them want rung 10's loop. So it becomes a template that is given its
/// parts (main_loop.cuh): loaders say where an element of a factor is, copies how it comes to
/// shared memory, a tiling who computes what, and an epilogue what is stored.
///
/// What is known when a kernel is compiled costs nothing when it runs: the direction of a factor
/// that is loaded by vectors is now part of its loader's type, and sizes are ints.
///
/// Run it: `ladder gemm --rung main-loop`.
/// Work: as rung 10.

#include "03_shared_memory/gemm/rungs.hpp"
#include "03_shared_memory/gemm/whole_tiles.cuh"

namespace stagewise::shared_memory {

template <typename T>
void gemm_main_loop(cudaStream_t stream, const GemmProblem<T>& p, Workspace& /*workspace*/) {
  with_loaders(p, [&](const auto& a, const auto& b) {
    multiply_whole_tiles<RegisterCopies, register_stages, T, typename Tilings<T>::Large>(
        stream, p.m, p.n, p.k, a, b, AlphaBeta<T>(p));
  });
}

template void gemm_main_loop(cudaStream_t, const GemmProblem<float>&, Workspace&);
template void gemm_main_loop(cudaStream_t, const GemmProblem<double>&, Workspace&);

}  // namespace stagewise::shared_memory
