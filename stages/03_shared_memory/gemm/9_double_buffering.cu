/// @file
/// GEMM, rung 9: load the next tile while this one is multiplied.
///
/// Rung 8 loads, waits, multiplies, waits, and loads again: while a tile is being loaded, the
/// arithmetic units are idle, unless another block of the multiprocessor happens to be multiplying.
/// A load does not stall a thread; only the first use of the loaded value does. So shared memory
/// now has two buffers for each tile. While one is multiplied, the loads for the other are in
/// flight, into registers, and are stored to shared memory afterwards. This is double buffering.
///
/// One barrier per step is enough instead of two, because the buffer that is written is not the one
/// that is read. The barrier at the end of a step separates the last reads of a buffer from the
/// next writes to it, as well as the writes from the reads that follow.
///
/// The last step has nothing to load, but loads all the same, zeros from beyond k. With an `if`
/// around the loads, the compiler might move them down to where they are stored, and nothing would
/// be in flight during the multiplications.
///
/// Loads in flight occupy 12 registers per thread in float.
///
/// Run it: `ladder gemm --rung double-buffering`.
/// Work: as rung 8, with twice as much shared memory and half as many barriers.
/// Measured on an H200, 800 x 1000 x 784: 52.6 us in float, 93.8 us in double.

#include "03_shared_memory/gemm/load_tile.cuh"
#include "03_shared_memory/gemm/rungs.hpp"
#include "cuda/check.hpp"

namespace stagewise::shared_memory {
namespace {

//! [double_buffering]
template <int BM, int BN, int BK, int TM, int TN, int length, typename T>
__global__ void __launch_bounds__(BM / TM * (BN / TN), length > 1 ? 2 : 1)
    gemm_double_buffering_kernel(GemmProblem<T> p, bool c_has_vectors) {
  constexpr int group = Vector<T>::length;
  constexpr int threads_across = BN / TN;
  constexpr int threads = BM / TM * threads_across;
  __shared__ alignas(16) T a_tile[2][BK][BM + group];
  __shared__ alignas(16) T b_tile[2][BK][BN + group];
  TileLoad<T, threads, BM, BK, length> load_a(p.a, p.op_a == Transpose::no, p.m, p.k);
  TileLoad<T, threads, BN, BK, length> load_b(p.b, p.op_b == Transpose::yes, p.n, p.k);
  const int x = static_cast<int>(threadIdx.x) % threads_across * group;
  const int y = static_cast<int>(threadIdx.x) / threads_across * TM;
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
      for (int r = 0; r < TM; r += group) load_vector(of_a + r, &a_tile[now][i][y + r]);
#pragma unroll
      for (int s = 0; s < TN; s += group) {
        load_vector(of_b + s, &b_tile[now][i][x + s * threads_across]);
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
    const Index row = top + y + r;
    if (row >= p.m) continue;
#pragma unroll
    for (int s = 0; s < TN; s += group) {
      const Index column = left + x + s * threads_across;
      store_vector(p.c + row * p.n + column, &sums[r][s], p.n - column, p.alpha, p.beta,
                   c_has_vectors);
    }
  }
}
//! [double_buffering]

template <int length, typename T>
void launch(cudaStream_t stream, const GemmProblem<T>& p) {
  constexpr int BK = 8;  // steps along k at a time
  constexpr int TM = 8;  // rows of a thread's tile
  constexpr int TN = sizeof(T) == sizeof(float) ? 8 : 4;
  constexpr int BM = 8 * TM;  // rows of a block's tile
  constexpr int BN = 16 * TN;
  constexpr int threads = BM / TM * (BN / TN);
  const dim3 grid = grid_of_tiles(p.m, p.n, BM, BN);
  gemm_double_buffering_kernel<BM, BN, BK, TM, TN, length>
      <<<grid, threads, 0, stream>>>(p, is_aligned(p.c, p.n));
  CUDA_CHECK_LAUNCH("gemm (double buffering)");
}

}  // namespace

template <typename T>
void gemm_double_buffering(cudaStream_t stream, const GemmProblem<T>& p, Workspace& /*workspace*/) {
  have_vectors(p) ? launch<Vector<T>::length>(stream, p) : launch<1>(stream, p);
}

template void gemm_double_buffering(cudaStream_t, const GemmProblem<float>&, Workspace&);
template void gemm_double_buffering(cudaStream_t, const GemmProblem<double>&, Workspace&);

}  // namespace stagewise::shared_memory
