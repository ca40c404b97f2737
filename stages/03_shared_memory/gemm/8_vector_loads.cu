/// @file
/// GEMM, rung 8: loads of 16 bytes, and the next tile on its way while this one is multiplied.
///
/// Two bottlenecks go. Rung 7 loads number by number, and each load is an instruction that the
/// multiplications have to make room for: here a thread loads four floats at once, from global
/// memory and from shared memory. And rung 7 stands still while its tiles come in: here shared
/// memory holds two k tiles of each factor. While one is multiplied, the loads for the other are
/// under way, with the registers as a waiting room. That takes one barrier a k tile instead of two.
///
/// Vectors need rows whose length is a multiple of four (in double, of two), and aligned pointers.
/// Where that is not so, the same kernel loads single numbers.
///
/// Run it: `ladder gemm --rung vector-loads`.
/// Work: 2 m n k operations; 2 m n k / 128 numbers from global memory, m n k / 4 from shared
/// memory, a quarter as many instructions for both.

#include "03_shared_memory/gemm/rungs.hpp"
#include "03_shared_memory/gemm/whole_tiles.cuh"

namespace stagewise::shared_memory {

template <typename T>
void gemm_vector_loads(cudaStream_t stream, const GemmProblem<T>& p, Workspace& /*workspace*/) {
  with_loaders(p, [&](const auto& a, const auto& b) {
    multiply_whole_tiles<RegisterCopies, register_stages, T, typename Tilings<T>::Large>(
        stream, p.m, p.n, p.k, a, b, AlphaBeta<T>(p));
  });
}

template void gemm_vector_loads(cudaStream_t, const GemmProblem<float>&, Workspace&);
template void gemm_vector_loads(cudaStream_t, const GemmProblem<double>&, Workspace&);

}  // namespace stagewise::shared_memory
