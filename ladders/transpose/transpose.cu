/// @file
/// The transpose ladder: which kernels make up its rungs.

#include <array>

#include "ladders/transpose/1_naive.cuh"
#include "ladders/transpose/2_tile.cuh"
#include "ladders/transpose/3_padded.cuh"
#include "ladders/transpose/4_rows.cuh"
#include "ladders/transpose/5_swizzled.cuh"
#include "ladders/transpose/6_large_tiles.cuh"
#include "ladders/transpose/7_vectors.cuh"
#include "ladders/transpose/8_dependent_launch.cuh"
#include "ladders/transpose/transpose.hpp"

namespace stagewise::shared_memory {
namespace {

template <typename T>
constexpr auto all = &supports_everything<TransposeProblem<T>>;

template <typename T>
constexpr auto rungs = std::to_array<Rung<TransposeProblem<T>>>({
    {"naive", "ladders/transpose/1_naive.cuh", "stage 02: one thread per element", transpose_naively<T>, all<T>},
    {"tile", "ladders/transpose/2_tile.cuh", "tiles in shared memory: coalesced on both sides",
     transpose_tiles<PlainTile, T>, all<T>, 32},
    {"padded", "ladders/transpose/3_padded.cuh", "an unused column: no bank conflicts",
     transpose_tiles<PaddedTile<tile_side>, T>, all<T>, 32},
    {"rows", "ladders/transpose/4_rows.cuh", "a thread moves four elements: more loads under way",
     transpose_rows<PaddedTile<tile_side>, Start::in_order, T>, all<T>, 32},
    {"swizzled", "ladders/transpose/5_swizzled.cuh", "XOR instead of padding: no shared memory unused",
     transpose_rows<SwizzledTile, Start::in_order, T>, all<T>, 32},
    {"large-tiles", "ladders/transpose/6_large_tiles.cuh", "16 elements a thread, where there are many tiles",
     transpose_large_tiles<Start::in_order, T>, all<T>},
    {"vectors", "ladders/transpose/7_vectors.cuh", "16 bytes an access, turned in registers",
     transpose_vectors<Start::in_order, T>, all<T>},
    {"dependent-launch", "ladders/transpose/8_dependent_launch.cuh", "launched while the kernel before ends",
     transpose_by_dependent_launch<T>, all<T>},
});

}  // namespace

template <typename T>
Ladder<TransposeProblem<T>> transpose_ladder() {
  return rungs<T>;
}

template Ladder<TransposeProblem<float>> transpose_ladder();
template Ladder<TransposeProblem<double>> transpose_ladder();

}  // namespace stagewise::shared_memory
