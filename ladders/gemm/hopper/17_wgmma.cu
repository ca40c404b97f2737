/// @file
/// GEMM, rung 17: `wgmma`, fed by the bulk copy engine, in bfloat16 and in TF32.
///
/// Rungs 15 and 16 get less than half of what the units can do: `mma.sync` takes its factors from
/// registers, so for each instruction, a warp loads numbers from shared memory, rounds them and
/// waits. Here, the factors are rounded beforehand, by a kernel of their own. Then nobody has to
/// touch them again: the copy engine moves them to shared memory, and `wgmma` fetches them from
/// there. Of a block's nine warps, one asks for copies, eight start multiplications, and all that
/// is left to them is to wait for each other (k_tile_ring.cuh).
///
/// Run it: `ladder gemm --rung wgmma-bf16`, `wgmma-tf32`. It takes a GPU of compute capability 9.0.
/// Work: 2 m n k operations, in instructions of 64 x BN x 16 or 8; m n k (1 / BM + 1 / BN) numbers
/// from the L2 cache, fewer in clusters; m n k (1 / BN + 1 / 64) from shared memory.
/// Measured on an H200, 800 x 1000 x 784: `wgmma-bf16` 11.5 us in float; `wgmma-tf32` 15.2 us in
/// float.

#include <algorithm>

#include "cuda/device.hpp"
#include "ladders/gemm/hopper/rounded_copies.cuh"
#include "ladders/gemm/hopper/wgmma_kernel.cuh"
#include "ladders/gemm/hopper/wgmma_rungs.hpp"

namespace stagewise::shared_memory {
namespace {

/// How many tiles of a cluster a matrix has.
template <typename Tiling>
Index tiles_of(Index m, Index n) {
  return TileOrder<ClusterTile<Tiling>>{static_cast<int>(m), static_cast<int>(n)}.count();
}

/// The product of the rounded factors.
template <typename Precision, typename Tiling>
void multiply_copies(cudaStream_t stream, const GemmProblem<float>& p, const RoundedCopy<Precision>& a,
                     const RoundedCopy<Precision>& b) {
  constexpr int bytes = KTileRing<Tiling>::bytes;
  constexpr auto* kernel = wgmma_kernel<Precision, Tiling, AlphaBeta<float>>;
  static const bool is_allowed = [] {
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    return true;
  }();
  static_cast<void>(is_allowed);
  const auto map = [](const RoundedCopy<Precision>& copy, int rows) {
    return make_tensor_map(Precision::map_type, copy.to, copy.places, std::max<Index>(1, copy.steps),
                           copy.pitch * Precision::bytes, rows);
  };
  const Index clusters = std::min<Index>(tiles_of<Tiling>(p.m, p.n), cuda::multiprocessors() / Tiling::cluster);
  kernel<<<static_cast<unsigned>(clusters * Tiling::cluster), Tiling::threads, bytes, stream>>>(
      map(a, Tiling::BM), map(b, Tiling::part_of_b), static_cast<int>(p.m), static_cast<int>(p.n),
      static_cast<int>(cuda::pieces(p.k, steps_of_k_tile<Precision>)), AlphaBeta<float>(p));
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
  const Index large = 2 * rounds(tiles_of<Large>(m, n), multiprocessors / 2);
  const Index small = rounds(tiles_of<Small>(m, n), multiprocessors);
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
    a = {operand_a(p), p.m, p.k, room, pitch};
    b = {operand_b(p), p.n, p.k, room + p.m * pitch / 2, pitch};
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

std::string_view why_no_wgmma() { return {}; }

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
