/// @file
/// The transpose ladder: which kernels make up its rungs.

#include <array>

#include "ladders/transpose/2_tile.cuh"
#include "ladders/transpose/3_padded.cuh"
#include "ladders/transpose/4_rows.cuh"
#include "ladders/transpose/5_swizzled.cuh"
#include "ladders/transpose/6_large_tiles.cuh"
#include "ladders/transpose/7_vectors.cuh"
#include "ladders/transpose/8_dependent_launch.cuh"
#include "ladders/transpose/naive.hpp"
#include "ladders/transpose/transpose.hpp"

namespace stagewise::shared_memory {
namespace {

template <typename T>
void transpose_naively(cudaStream_t stream, const TransposeProblem<T>& p,
                       Workspace& /*workspace*/) {
  naive_cuda::transpose(stream, p.rows, p.cols, p.x, p.y);
}

template <typename T>
constexpr auto rungs = std::to_array<Rung<TransposeProblem<T>>>({
    {"naive", "ladders/transpose/1_naive.cu", "stage 02: one thread per element",
     transpose_naively<T>, supports_everything<TransposeProblem<T>>},
    {"tile", "ladders/transpose/2_tile.cuh", "tiles in shared memory: coalesced on both sides",
     transpose_tiles<PlainTile, T>, supports_everything<TransposeProblem<T>>, 32},
    {"padded", "ladders/transpose/3_padded.cuh", "an unused column: no bank conflicts",
     transpose_tiles<PaddedTile<tile_side>, T>, supports_everything<TransposeProblem<T>>, 32},
    {"rows", "ladders/transpose/4_rows.cuh", "a thread moves four elements: more loads under way",
     transpose_rows<PaddedTile<tile_side>, Start::in_order, T>,
     supports_everything<TransposeProblem<T>>, 32},
    {"swizzled", "ladders/transpose/5_swizzled.cuh",
     "XOR instead of padding: no shared memory unused",
     transpose_rows<SwizzledTile, Start::in_order, T>, supports_everything<TransposeProblem<T>>,
     32},
    {"large-tiles", "ladders/transpose/6_large_tiles.cuh",
     "16 elements a thread, where there are many tiles", transpose_large_tiles<Start::in_order, T>,
     supports_everything<TransposeProblem<T>>},
    {"vectors", "ladders/transpose/7_vectors.cuh", "16 bytes an access, turned in registers",
     transpose_vectors<Start::in_order, T>, supports_everything<TransposeProblem<T>>},
    {"dependent-launch", "ladders/transpose/8_dependent_launch.cuh",
     "launched while the kernel before ends", transpose_by_dependent_launch<T>,
     supports_everything<TransposeProblem<T>>},
});

}  // namespace

template <typename T>
Ladder<TransposeProblem<T>> transpose_ladder() {
  return rungs<T>;
}

template <typename T>
void transpose(cudaStream_t stream, const TransposeProblem<T>& problem, Workspace& workspace) {
  find_rung(transpose_ladder<T>(), default_transpose_rung).run(stream, problem, workspace);
}

template Ladder<TransposeProblem<float>> transpose_ladder();
template Ladder<TransposeProblem<double>> transpose_ladder();
template void transpose(cudaStream_t, const TransposeProblem<float>&, Workspace&);
template void transpose(cudaStream_t, const TransposeProblem<double>&, Workspace&);

}  // namespace stagewise::shared_memory
