/// @file
/// The factors of a product as the unit wants them: rounded, and with k running along memory.
#pragma once

#include "cuda/launch.cuh"
#include "ladders/gemm/hopper/precision.cuh"
#include "network/operand.hpp"

namespace stagewise::shared_memory {

//! [rounded_copies]
/// A factor, [places, steps], and where its rounded copy goes: rows of `pitch` numbers, a whole
/// number of k tiles.
template <typename Precision>
struct RoundedCopy {
  Operand<float> from;           ///< element (place, step)
  Index places;                  ///< rows of op(A), or columns of op(B)
  Index steps;                   ///< k
  typename Precision::Pair* to;  ///< the copy
  Index pitch;                   ///< of the copy, from row to row

  static constexpr int side = 64;  ///< of the tiles in which it is copied
  /// How many of them are beside each other.
  __host__ __device__ Index tiles_across() const { return (pitch - 1) / side + 1; }
  /// How many there are.
  Index tiles() const { return ((places - 1) / side + 1) * tiles_across(); }
};

/// Copies both factors; the first `tiles_of_a` blocks copy A. A tile is read in the order in which
/// memory runs, and written along k, so a tile of a transposed factor is turned in shared memory.
template <typename Precision>
__global__ void rounded_copies_kernel(RoundedCopy<Precision> a, RoundedCopy<Precision> b, unsigned tiles_of_a) {
  constexpr int side = RoundedCopy<Precision>::side;
  constexpr int rows_at_once = cuda::threads_per_block / side;
  __shared__ float tile[side][side + 1];
  const bool is_a = blockIdx.x < tiles_of_a;
  const RoundedCopy<Precision> copy = is_a ? a : b;
  const Index number = is_a ? blockIdx.x : blockIdx.x - tiles_of_a;
  const Index first_place = number / copy.tiles_across() * side;
  const Index first_step = number % copy.tiles_across() * side;
  const bool runs_along = copy.from.column_stride == 1;
  const auto x = static_cast<int>(threadIdx.x % side);
#pragma unroll
  for (int i = 0; i < side / rows_at_once; ++i) {
    const int y = static_cast<int>(threadIdx.x / side) + i * rows_at_once;
    const int place = runs_along ? y : x;
    const int step = runs_along ? x : y;
    const bool is_inside = first_place + place < copy.places && first_step + step < copy.steps;
    tile[place][step] = is_inside ? copy.from(first_place + place, first_step + step) : 0;
  }
  __syncthreads();
  const auto pair = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int i = 0; i < side / (cuda::threads_per_block / 32); ++i) {
    const int y = static_cast<int>(threadIdx.x / 32) + i * (cuda::threads_per_block / 32);
    const Index place = first_place + y;
    const Index step = first_step + 2 * pair;
    if (place >= copy.places || step >= copy.pitch) continue;
    copy.to[(place * copy.pitch + step) / 2] = Precision::round(tile[y][2 * pair], tile[y][2 * pair + 1]);
  }
}
//! [rounded_copies]

/// Enqueues the copies of both factors, which have elements.
template <typename Precision>
void round_factors(cudaStream_t stream, const RoundedCopy<Precision>& a, const RoundedCopy<Precision>& b) {
  const auto tiles_of_a = static_cast<unsigned>(a.tiles());
  const auto tiles_of_b = static_cast<unsigned>(b.tiles());
  rounded_copies_kernel<<<tiles_of_a + tiles_of_b, cuda::threads_per_block, 0, stream>>>(a, b, tiles_of_a);
  CUDA_CHECK_LAUNCH("gemm (rounded copies)");
}

}  // namespace stagewise::shared_memory
