/// @file
/// GEMM, rungs 19 and 20: `wgmma`, fed by the bulk copy engine, in bfloat16 and in TF32.
///
/// Rungs 16 and 17 get less than half of what the units can do: `mma.sync` takes its factors from
/// registers, so for each instruction, a warp loads numbers from shared memory, rounds them and
/// waits. Here, the factors are rounded beforehand, by a kernel of their own. Then nobody has to
/// touch them again: the copy engine moves them to shared memory, and `wgmma` fetches them from
/// there. Of a block's nine warps, one asks for copies, eight start multiplications, and all that
/// is left to them is to wait for each other (k_tile_ring.cuh).
///
/// Run it: `ladder gemm --rung wgmma-bf16`, `wgmma-tf32`. It takes a GPU of compute capability 9.0.
/// Work: 2 m n k operations, in instructions of 64 x BN x 16 or 8; m n k (1 / BM + 1 / BN) numbers
/// from the L2 cache, fewer in clusters; m n k (1 / BN + 1 / 64) from shared memory.

#include <algorithm>

#include "03_shared_memory/gemm/hopper/k_tile_ring.cuh"
#include "03_shared_memory/gemm/hopper/rounded_copies.cuh"
#include "03_shared_memory/gemm/hopper/store_rows.cuh"
#include "03_shared_memory/gemm/hopper/wgmma.cuh"
#include "03_shared_memory/gemm/rungs.hpp"
#include "cuda/device.hpp"

namespace stagewise::shared_memory {
namespace {

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
__device__ __forceinline__ void multiply(KTileRing<Tiling>& ring, int k_tiles,
                                         float (&sums)[Tiling::BN / 2]) {
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

/// Passes a thread's sums to the epilogue, and stores the results.
template <int count, typename Epilogue>
__device__ __forceinline__ void store(const float (&sums)[count], WarpPatch patch,
                                      const Epilogue& epilogue, TilePlace tile, int m, int n) {
  const int row = tile.top + static_cast<int>(threadIdx.x / 32) * WarpPatch::rows;
#pragma unroll
  for (int i = 0; i < count / 32; ++i) {
    patch.put(sums + i * 32);
    patch.store(epilogue, {row, tile.left + i * WarpPatch::columns}, m, n);
  }
}

//! [wgmma_kernel]
/// Each cluster computes every `clusters`-th of its tiles. So the loading warp goes on to the next
/// tile while the others still store this one.
template <typename Precision, typename Tiling, typename Epilogue>
__global__ void __cluster_dims__(Tiling::cluster, 1, 1) __launch_bounds__(Tiling::threads, 1)
    wgmma_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                 int m, int n, int k_tiles, Epilogue epilogue) {
  extern __shared__ __align__(1024) unsigned char memory[];
  const unsigned rank = blockIdx.x % Tiling::cluster;
  KTileRing<Tiling> ring(memory, rank);
  if (threadIdx.x == 0) ring.init();
  sync_cluster();
  cudaGridDependencySynchronize();  // so far, the copies may have been under way

  const TileOrder<ClusterTile<Tiling>> order = {m, n};
  const auto clusters = static_cast<int>(gridDim.x / Tiling::cluster);
  const auto each_tile = [&](const auto& work) {
    for (auto i = static_cast<int>(blockIdx.x / Tiling::cluster); i < order.down() * order.across();
         i += clusters) {
      TilePlace tile = order.place(i);
      tile.top += static_cast<int>(rank) * Tiling::BM;
      work(tile);
    }
  };
  if (threadIdx.x / 32 == Tiling::warps) {
    if (threadIdx.x % 32 == 0) {
      each_tile([&](TilePlace tile) {
        for (int i = 0; i < k_tiles; ++i) {
          ring.load(a, b, i * steps_of_k_tile<Precision>, tile.top, tile.left);
        }
      });
    }
    __syncwarp();
  } else {
    const WarpPatch patch(reinterpret_cast<float*>(memory + KTileRing<Tiling>::bytes +
                                                   threadIdx.x / 32 * WarpPatch::bytes));
    each_tile([&](TilePlace tile) {
      float sums[Tiling::BN / 2];
      multiply<Precision>(ring, k_tiles, sums);
      store(sums, patch, epilogue, tile, m, n);
    });
  }
  sync_cluster();  // others write to this block's shared memory until they are done, too
}
//! [wgmma_kernel]

/// The product of the rounded factors.
template <typename Precision, typename Tiling>
void multiply_copies(cudaStream_t stream, const GemmProblem<float>& p,
                     const RoundedCopy<Precision>& a, const RoundedCopy<Precision>& b) {
  constexpr int bytes = KTileRing<Tiling>::bytes + Tiling::warps * WarpPatch::bytes;
  constexpr auto* kernel = wgmma_kernel<Precision, Tiling, AlphaBeta<float>>;
  static const bool is_allowed = [] {
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    return true;
  }();
  static_cast<void>(is_allowed);
  const auto map = [](const RoundedCopy<Precision>& copy, int rows) {
    return make_tensor_map(Precision::map_type, copy.to, copy.places,
                           std::max<Index>(1, copy.steps), copy.pitch * Precision::bytes, rows);
  };
  const Index clusters = std::min<Index>(tile_count<ClusterTile<Tiling>>(p.m, p.n),
                                         cuda::multiprocessors() / Tiling::cluster);
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = static_cast<unsigned>(clusters * Tiling::cluster);
  config.blockDim = Tiling::threads;
  config.dynamicSmemBytes = bytes;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = 1;
  CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, map(a, Tiling::BM), map(b, Tiling::part_of_b),
                                static_cast<int>(p.m), static_cast<int>(p.n),
                                static_cast<int>(cuda::pieces(p.k, steps_of_k_tile<Precision>)),
                                AlphaBeta<float>(p)));
  CUDA_CHECK_LAUNCH("gemm (wgmma)");
}

using Large = WgmmaTiling<256, 4, 2>;
using Small = WgmmaTiling<128, 6, 1>;

//! [wgmma_pick]
/// The larger tile, unless the smaller one leaves so many fewer multiprocessors without work that
/// it takes less time.
bool is_large(Index m, Index n) {
  const auto rounds = [&](Index tiles, Index at_once) { return cuda::pieces(tiles, at_once); };
  const Index multiprocessors = cuda::multiprocessors();
  const Index large = 2 * rounds(tile_count<ClusterTile<Large>>(m, n), multiprocessors / 2);
  const Index small = rounds(tile_count<ClusterTile<Small>>(m, n), multiprocessors);
  return large <= small;
}
//! [wgmma_pick]

/// Where the rounded factors of a product are: in the workspace.
template <typename Precision>
struct RoundedFactors {
  RoundedCopy<Precision> a;  ///< op(A), [m, k]
  RoundedCopy<Precision> b;  ///< op(B) transposed, [n, k]

  RoundedFactors(const GemmProblem<float>& p, Workspace& workspace) {
    const Index k_tiles = std::max<Index>(1, cuda::pieces(p.k, steps_of_k_tile<Precision>));
    const Index pitch = k_tiles * steps_of_k_tile<Precision>;
    auto* const room = workspace.room<typename Precision::Pair>((p.m + p.n) * pitch / 2);
    a = {naive_cuda::operand_a(p), p.m, p.k, room, pitch};
    b = {naive_cuda::operand_b(p), p.n, p.k, room + p.m * pitch / 2, pitch};
    std::swap(b.from.row_stride, b.from.column_stride);
  }
};

template <typename Precision>
void round_for_wgmma(cudaStream_t stream, const GemmProblem<float>& p, Workspace& workspace) {
  const RoundedFactors<Precision> factors(p, workspace);
  if (p.k > 0) round_factors(stream, factors.a, factors.b);
}

template <typename Precision>
void gemm_wgmma(cudaStream_t stream, const GemmProblem<float>& p, Workspace& workspace) {
  round_for_wgmma<Precision>(stream, p, workspace);
  const RoundedFactors<Precision> factors(p, workspace);
  if (is_large(p.m, p.n)) {
    multiply_copies<Precision, Large>(stream, p, factors.a, factors.b);
  } else {
    multiply_copies<Precision, Small>(stream, p, factors.a, factors.b);
  }
}

}  // namespace

std::string_view why_no_wgmma() {
  return {};
}

void gemm_wgmma_bf16(cudaStream_t stream, const GemmProblem<float>& p, Workspace& workspace) {
  gemm_wgmma<Bf16Numbers>(stream, p, workspace);
}

void gemm_wgmma_tf32(cudaStream_t stream, const GemmProblem<float>& p, Workspace& workspace) {
  gemm_wgmma<Tf32Numbers>(stream, p, workspace);
}

void round_to_bf16(cudaStream_t stream, const GemmProblem<float>& p, Workspace& workspace) {
  round_for_wgmma<Bf16Numbers>(stream, p, workspace);
}

void round_to_tf32(cudaStream_t stream, const GemmProblem<float>& p, Workspace& workspace) {
  round_for_wgmma<Tf32Numbers>(stream, p, workspace);
}

}  // namespace stagewise::shared_memory
