/// @file
/// GEMM, rung 8: vector loads of 16 bytes.
///
/// Rung 7 loads number by number, and each load is an instruction that takes an issue slot from the
/// multiplications. One instruction can load 16 bytes, four floats or two doubles, if their address
/// is a multiple of 16. Here, all data move that way: from global to shared memory, from there into
/// registers, and from registers to C. So a thread's columns now come in groups of 16 bytes;
/// between the groups of one thread lie those of the other 15, so that neighbouring threads read
/// without gaps. A thread's rows were neighbours already, since the tile of A is stored as
/// [step][row].
///
/// With so few instructions for loads, a larger tile pays: 8 x 8 for a thread, for which 16 numbers
/// are read in 4 instructions, and 64 x 128 for a block of 128 threads. In double, a thread's tile
/// is 8 x 4: 64 sums of 8 bytes would take half of the registers that it can have.
///
/// Shared memory serves eight threads with 16 bytes each at a time, 32 words. Their vectors of B
/// are 32 neighbouring words, and their vector of A is the same for all eight: no conflicts. A
/// vector that lies along k in memory has to be transposed when it is stored, because its numbers
/// belong to different rows of the tile. A padding of one vector keeps these rows aligned and
/// shifts each of them by four banks, so that the 32 stores of a warp go to 32 banks.
///
/// Vectors can be loaded from global memory if matrices start at a multiple of 16 bytes and rows
/// are a multiple of 16 bytes long. Otherwise `length` is 1, and the same kernel loads single
/// numbers from global memory.
///
/// Run it: `ladder gemm --rung vector-loads`.
/// Work: 2 m n k operations; m n k (1 / 64 + 1 / 128) numbers from global memory and m n k / 4 from
/// shared memory in float; m n k / 32 and 3 m n k / 8 in double.
/// Measured on an H200, 800 x 1000 x 784: 74.4 us in float, 98.1 us in double.

#include "03_shared_memory/gemm/load_tile.cuh"
#include "03_shared_memory/gemm/rungs.hpp"
#include "cuda/check.hpp"

namespace stagewise::shared_memory {
namespace {

//! [vector_loads]
template <int BM, int BN, int BK, int TM, int TN, int length, typename T>
__global__ void __launch_bounds__(BM / TM * (BN / TN), 2)
    gemm_vector_loads_kernel(GemmProblem<T> p, bool c_has_vectors) {
  constexpr int group = Vector<T>::length;
  constexpr int threads_across = BN / TN;
  constexpr int threads = BM / TM * threads_across;
  __shared__ alignas(16) T a_tile[BK][BM + group];
  __shared__ alignas(16) T b_tile[BK][BN + group];
  TileLoad<T, threads, BM, BK, length> load_a(p.a, p.op_a == Transpose::no, p.m, p.k);
  TileLoad<T, threads, BN, BK, length> load_b(p.b, p.op_b == Transpose::yes, p.n, p.k);
  const int x = static_cast<int>(threadIdx.x) % threads_across * group;
  const int y = static_cast<int>(threadIdx.x) / threads_across * TM;
  const auto [top, left] = corner_of_tile<BM, BN>(p.n);
  T sums[TM][TN] = {};
  for (Index step = 0; step < p.k; step += BK) {
    load_a.fetch(top, step);
    load_b.fetch(left, step);
    load_a.put(a_tile);
    load_b.put(b_tile);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < BK; ++i) {
      T of_a[TM];
      T of_b[TN];
#pragma unroll
      for (int r = 0; r < TM; r += group) load_vector(of_a + r, &a_tile[i][y + r]);
#pragma unroll
      for (int s = 0; s < TN; s += group) {
        load_vector(of_b + s, &b_tile[i][x + s * threads_across]);
      }
#pragma unroll
      for (int r = 0; r < TM; ++r) {
#pragma unroll
        for (int s = 0; s < TN; ++s) sums[r][s] += of_a[r] * of_b[s];
      }
    }
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
//! [vector_loads]

template <int length, typename T>
void launch(cudaStream_t stream, const GemmProblem<T>& p) {
  constexpr int BK = 8;  // steps along k at a time
  constexpr int TM = 8;  // rows of a thread's tile
  constexpr int TN = sizeof(T) == sizeof(float) ? 8 : 4;
  constexpr int BM = 8 * TM;  // rows of a block's tile
  constexpr int BN = 16 * TN;
  constexpr int threads = BM / TM * (BN / TN);
  const dim3 grid = grid_of_tiles(p.m, p.n, BM, BN);
  gemm_vector_loads_kernel<BM, BN, BK, TM, TN, length>
      <<<grid, threads, 0, stream>>>(p, is_aligned(p.c, p.n));
  CUDA_CHECK_LAUNCH("gemm (vector loads)");
}

}  // namespace

template <typename T>
void gemm_vector_loads(cudaStream_t stream, const GemmProblem<T>& p, Workspace& /*workspace*/) {
  have_vectors(p) ? launch<Vector<T>::length>(stream, p) : launch<1>(stream, p);
}

template void gemm_vector_loads(cudaStream_t, const GemmProblem<float>&, Workspace&);
template void gemm_vector_loads(cudaStream_t, const GemmProblem<double>&, Workspace&);

}  // namespace stagewise::shared_memory
