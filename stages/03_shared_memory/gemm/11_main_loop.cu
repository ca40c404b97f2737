/// @file
/// GEMM, rung 11: rung 10, made of parts.
///
/// This removes no bottleneck, but repetition. The next rungs load differently, or begin and end
/// elsewhere along k. All of them need rung 10's loop. So the loop becomes a template that is given
/// its parts (main_loop.cuh): loaders say where an element of a factor is, copies how it gets into
/// shared memory, a tiling who computes what, and an epilogue what is stored.
///
/// What the compiler knows costs nothing at run time: for a factor that is loaded by vectors, the
/// direction of its memory is now part of its loader's type, and sizes are ints.
///
/// Run it: `ladder gemm --rung main-loop`.
/// Work: as rung 10.
/// Measured on an H200, 800 x 1000 x 784: 80.9 us in float, 126 us in double.

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
