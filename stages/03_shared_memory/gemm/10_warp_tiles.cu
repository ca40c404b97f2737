/// @file
/// GEMM, rung 10: a block's tile is divided into warp tiles, and those into thread tiles.
///
/// In rung 9, the 32 threads of a warp form two rows of 16 and work on 16 x 128 elements of C. For
/// each step along k, such a warp needs 16 numbers of A and 128 of B from shared memory. The closer
/// its tile is to a square, the fewer numbers it needs for the same number of multiplications.
/// Here, a warp has a tile of WM x WN, 32 x 64, and its lanes form 4 rows of 8: it needs 32 numbers
/// of A and 64 of B, 96 instead of 144.
///
/// If several lanes need the same number, it is read once for all of them: a broadcast. Shared
/// memory serves eight lanes' vectors at a time, so their numbers decide who stands where. Lanes 0
/// to 7 are 2 rows of 4: they need two vectors of A and four of B, where a row of 8 would need one
/// and eight.
///
///     lane   0  2  4  6  8 10 12 14
///            1  3  5  7  9 11 13 15
///           16 18 20 22 24 26 28 30
///           17 19 21 23 25 27 29 31
///
/// A lane's rows come in groups of 16 bytes, as its columns do, with those of other lanes between
/// them.
///
/// Run it: `ladder gemm --rung warp-tiles`.
/// Work: as rung 9, but a warp reads only 2/3 as many different numbers from shared memory. In
/// double, where a warp's tile is 32 x 32, it reads 64 per step instead of 80.
/// Measured on an H200, 800 x 1000 x 784: 50.1 us in float, 90.1 us in double.

#include "03_shared_memory/gemm/load_tile.cuh"
#include "03_shared_memory/gemm/rungs.hpp"
#include "cuda/check.hpp"

namespace stagewise::shared_memory {
namespace {

//! [warp_tiles]
template <int BM, int BN, int BK, int WM, int WN, int TM, int TN, int length, typename T>
__global__ void __launch_bounds__(32 * (BM / WM) * (BN / WN), length > 1 ? 2 : 1)
    gemm_warp_tiles_kernel(GemmProblem<T> p, bool c_has_vectors) {
  constexpr int group = Vector<T>::length;
  constexpr int warps_across = BN / WN;
  constexpr int threads = 32 * (BM / WM) * warps_across;
  constexpr int lanes_down = WM / TM;
  constexpr int lanes_across = WN / TN;
  static_assert(lanes_down == 4 && lanes_across == 8);
  __shared__ alignas(16) T a_tile[2][BK][BM + group];
  __shared__ alignas(16) T b_tile[2][BK][BN + group];
  TileLoad<T, threads, BM, BK, length> load_a(p.a, p.op_a == Transpose::no, p.m, p.k);
  TileLoad<T, threads, BN, BK, length> load_b(p.b, p.op_b == Transpose::yes, p.n, p.k);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int x = warp % warps_across * WN + lane / 2 % 8 * group;
  const int y = warp / warps_across * WM + (lane % 2 + lane / 16 * 2) * group;
  const auto [top, left] = corner_of_tile<BM, BN>(p.n);
  T sums[TM][TN] = {};
  load_a.fetch(top, 0);
  load_b.fetch(left, 0);
  load_a.put(a_tile[0]);
  load_b.put(b_tile[0]);
  __syncthreads();
  int now = 0;  // the buffer that is multiplied
  for (Index step = 0; step < p.k; step += BK) {
    load_a.fetch(top, step + BK);
    load_b.fetch(left, step + BK);
#pragma unroll
    for (int i = 0; i < BK; ++i) {
      T of_a[TM];
      T of_b[TN];
#pragma unroll
      for (int r = 0; r < TM; r += group) {
        load_vector(of_a + r, &a_tile[now][i][y + r * lanes_down]);
      }
#pragma unroll
      for (int s = 0; s < TN; s += group) {
        load_vector(of_b + s, &b_tile[now][i][x + s * lanes_across]);
      }
#pragma unroll
      for (int r = 0; r < TM; ++r) {
#pragma unroll
        for (int s = 0; s < TN; ++s) sums[r][s] += of_a[r] * of_b[s];
      }
    }
    now = 1 - now;
    load_a.put(a_tile[now]);
    load_b.put(b_tile[now]);
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < TM; ++r) {
    const Index row = top + y + r / group * group * lanes_down + r % group;
    if (row >= p.m) continue;
#pragma unroll
    for (int s = 0; s < TN; s += group) {
      const Index column = left + x + s * lanes_across;
      store_vector(p.c + row * p.n + column, &sums[r][s], p.n - column, p.alpha, p.beta,
                   c_has_vectors);
    }
  }
}
//! [warp_tiles]

template <int length, typename T>
void launch(cudaStream_t stream, const GemmProblem<T>& p) {
  constexpr int BK = 8;  // steps along k at a time
  constexpr int TM = 8;  // rows of a thread's tile
  constexpr int TN = sizeof(T) == sizeof(float) ? 8 : 4;
  constexpr int WM = 4 * TM;  // rows of a warp's tile
  constexpr int WN = 8 * TN;
  constexpr int BM = 2 * WM;  // rows of a block's tile
  constexpr int BN = 128;
  constexpr int threads = 32 * (BM / WM) * (BN / WN);
  const dim3 grid = grid_of_tiles(p.m, p.n, BM, BN);
  gemm_warp_tiles_kernel<BM, BN, BK, WM, WN, TM, TN, length>
      <<<grid, threads, 0, stream>>>(p, is_aligned(p.c, p.n));
  CUDA_CHECK_LAUNCH("gemm (warp tiles)");
}

}  // namespace

template <typename T>
void gemm_warp_tiles(cudaStream_t stream, const GemmProblem<T>& p, Workspace& /*workspace*/) {
  have_vectors(p) ? launch<Vector<T>::length>(stream, p) : launch<1>(stream, p);
}

template void gemm_warp_tiles(cudaStream_t, const GemmProblem<float>&, Workspace&);
template void gemm_warp_tiles(cudaStream_t, const GemmProblem<double>&, Workspace&);

}  // namespace stagewise::shared_memory
