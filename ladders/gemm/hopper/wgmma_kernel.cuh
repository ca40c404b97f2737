/// @file
/// The kernel of rung 17: one warp loads, eight multiply.
#pragma once

#include "03_shared_memory/tiles/alpha_beta.cuh"
#include "03_shared_memory/tiles/tiles.cuh"
#include "ladders/gemm/hopper/k_tile_ring.cuh"
#include "ladders/gemm/hopper/precision.cuh"
#include "ladders/gemm/hopper/wgmma.cuh"

namespace stagewise::shared_memory {

/// The tiles of a cluster as one.
template <typename Tiling>
struct ClusterTile {
  static constexpr int BM = Tiling::BM * Tiling::cluster;
  static constexpr int BN = Tiling::BN;
};

//! [wgmma_multiply]
/// A warpgroup's 64 x BN of the tile: goes through the k tiles. While the unit multiplies one, this
/// waits for the next; the one before is free as soon as no instruction reads it any more.
template <typename Precision, typename Tiling>
__device__ __forceinline__ void multiply(KTileRing<Tiling>& ring, int k_tiles, float (&sums)[Tiling::BN / 2]) {
  const unsigned first_row = threadIdx.x / 128 * 64;
#pragma unroll
  for (int i = 0; i < Tiling::BN / 2; ++i) sums[i] = 0;
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    ring.wait();
    const std::uint64_t a = factor_at(ring.a() + first_row * box_row_bytes);
    const std::uint64_t b = factor_at(ring.b());
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < 4; ++i) wgmma<Precision>(sums, a + i * next_steps, b + i * next_steps);
    wgmma_commit();
    wgmma_wait<1>();
    if (k_tile > 0) ring.release_previous();
    ring.advance();
  }
  wgmma_wait<0>();
  sums_are_complete(sums);
  if (k_tiles > 0) ring.release_previous();
}
//! [wgmma_multiply]

//! [wgmma_store]
/// Passes a thread's sums to the epilogue, and stores the results. With g = lane / 4 and t = lane %
/// 4, a lane has (g, 2t), (g, 2t + 1), (g + 8, 2t) and (g + 8, 2t + 1) of each 8 columns of its
/// warp's 16 rows, as with `mma.sync`.
template <int count, typename Epilogue>
__device__ __forceinline__ void store(const float (&sums)[count], const Epilogue& epilogue, TilePosition tile, int m,
                                      int n) {
  const auto thread = static_cast<int>(threadIdx.x);
  const int first_row = tile.top + thread / 32 * 16 + thread % 32 / 4;
  const int first_column = tile.left + thread % 4 * 2;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = first_row + half * 8;
    if (row >= m) return;
#pragma unroll
    for (int i = 0; i < count / 4; ++i) {
      const int column = first_column + i * 8;
      if (column >= n) break;
      const float* const pair = sums + i * 4 + half * 2;
      float* const out = epilogue.row(row) + column;
      const auto result = [&](int j) {
        return epilogue.beta == 0 ? epilogue.alpha * pair[j] : epilogue.alpha * pair[j] + epilogue.beta * out[j];
      };
      const float first = result(0);
      if (epilogue.vectors) {
        *reinterpret_cast<float2*>(out) = {first, result(1)};
      } else {
        out[0] = first;
        if (column + 1 < n) out[1] = result(1);
      }
    }
  }
}
//! [wgmma_store]

//! [wgmma_kernel]
/// Each cluster computes every `clusters`-th of its tiles. So the loading warp goes on to the next
/// tile while the others still store this one.
template <typename Precision, typename Tiling, typename Epilogue>
__global__ void __cluster_dims__(Tiling::cluster, 1, 1) __launch_bounds__(Tiling::threads, 1)
    wgmma_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, int m, int n,
                 int k_tiles, Epilogue epilogue) {
  extern __shared__ __align__(1024) unsigned char memory[];
  const unsigned rank = blockIdx.x % Tiling::cluster;
  KTileRing<Tiling> ring(memory, rank);
  if (threadIdx.x == 0) ring.init();
  sync_cluster();

  const TileOrder<ClusterTile<Tiling>> order = {m, n};
  const auto clusters = static_cast<int>(gridDim.x / Tiling::cluster);
  const auto each_tile = [&](const auto& work) {
    for (auto i = static_cast<int>(blockIdx.x / Tiling::cluster); i < order.down() * order.across(); i += clusters) {
      TilePosition tile = order.at(i);
      tile.top += static_cast<int>(rank) * Tiling::BM;
      work(tile);
    }
  };
  if (threadIdx.x / 32 == Tiling::warps) {
    if (threadIdx.x % 32 == 0) {
      each_tile([&](TilePosition tile) {
        for (int i = 0; i < k_tiles; ++i) {
          ring.load(a, b, i * steps_of_k_tile<Precision>, tile.top, tile.left);
        }
      });
    }
    __syncwarp();
  } else {
    each_tile([&](TilePosition tile) {
      float sums[Tiling::BN / 2];
      multiply<Precision>(ring, k_tiles, sums);
      store(sums, epilogue, tile, m, n);
    });
  }
  sync_cluster();  // others write to this block's shared memory until they are done, too
}
//! [wgmma_kernel]

}  // namespace stagewise::shared_memory
