/// @file
/// GEMM, rung 5: coalesced for every transpose, bank conflicts, and the padding that removes them
/// (report 000, section 4.4).
///
/// In rung 4, x runs along the rows of op(A) and op(B), so a transposed matrix is read down a
/// column of memory. Here, x always runs along memory, and each thread stores what it has loaded
/// where it belongs. The tile of A is stored transposed, [step][row], as the next rungs need it. So
/// if a factor's memory runs along k, a warp writes a column into shared memory: for A if it is not
/// transposed, for B if it is.
///
/// Shared memory has 32 banks, each of which serves one word of 4 bytes at a time, and neighbouring
/// words are in neighbouring banks. A column of a tile that is 32 words wide is in a single bank,
/// so a warp needs 32 wavefronts to write it, a 32-way conflict. That cancels the gain from
/// coalescing. One unused column, `padding`, shifts each row by one bank, so that a column touches
/// all banks.
///
///     32 wide                       33 wide
///     bank  0  1  2 ... 31          bank  0  1  2 ... 31
///     row 0 o  .  .      .          row 0 o  .  .      .
///     row 1 o  .  .      .          row 1 .  o  .      .
///     row 2 o  .  .      .          row 2 .  .  o      .
///
/// Run it: `ladder gemm --rung conflicts`, `--rung padded`.
/// Work: as rung 4 with tiles of 32 x 32; with conflicts, a warp's store takes 32 wavefronts.
/// Measured on an H200, 800 x 1000 x 784: `conflicts` 298.3 us in float, 431.9 us in double;
/// `padded` 211.8 us in float, 347.9 us in double.

#include "cuda/launch.cuh"
#include "ladders/gemm/rungs.hpp"
#include "network/operand.hpp"

namespace stagewise::shared_memory {
namespace {

constexpr int size = 32;

//! [coalesced_tile]
template <int padding, typename T>
__global__ void gemm_coalesced_tile_kernel(Index m, Index n, Index k, T alpha, Operand<T> a, Operand<T> b, T beta,
                                           T* __restrict__ c) {
  __shared__ T a_tile[size][size + padding];  // [step][row]
  __shared__ T b_tile[size][size + padding];  // [step][column]
  const int y = static_cast<int>(threadIdx.y);
  const int x = static_cast<int>(threadIdx.x);
  // Which element of a tile this thread loads: x runs along memory.
  const int a_row = a.column_stride == 1 ? y : x;
  const int a_step = a.column_stride == 1 ? x : y;
  const int b_column = b.column_stride == 1 ? x : y;
  const int b_step = b.column_stride == 1 ? y : x;

  const Index left = blockIdx.x * Index{size};
  for (Index top = blockIdx.y * Index{size}; top < m; top += gridDim.y * Index{size}) {
    T sum = 0;
    for (Index step = 0; step < k; step += size) {
      a_tile[a_step][a_row] = top + a_row < m && step + a_step < k ? a(top + a_row, step + a_step) : T{0};
      b_tile[b_step][b_column] = left + b_column < n && step + b_step < k ? b(step + b_step, left + b_column) : T{0};
      __syncthreads();
      for (int i = 0; i < size; ++i) sum += a_tile[i][y] * b_tile[i][x];
      __syncthreads();
    }
    if (top + y < m && left + x < n) {
      T* const out = c + (top + y) * n + left + x;
      *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
    }
  }
}
//! [coalesced_tile]

}  // namespace

template <typename T, int padding>
void gemm_coalesced_tile(cudaStream_t stream, const GemmProblem<T>& p, Workspace& /*workspace*/) {
  const dim3 block(size, size);
  gemm_coalesced_tile_kernel<padding><<<cuda::grid_for(p.m, p.n, block), block, 0, stream>>>(
      p.m, p.n, p.k, p.alpha, operand_a(p), operand_b(p), p.beta, p.c);
  CUDA_CHECK_LAUNCH("gemm (coalesced tile)");
}

template void gemm_coalesced_tile<float, 0>(cudaStream_t, const GemmProblem<float>&, Workspace&);
template void gemm_coalesced_tile<float, 1>(cudaStream_t, const GemmProblem<float>&, Workspace&);
template void gemm_coalesced_tile<double, 0>(cudaStream_t, const GemmProblem<double>&, Workspace&);
template void gemm_coalesced_tile<double, 1>(cudaStream_t, const GemmProblem<double>&, Workspace&);

}  // namespace stagewise::shared_memory
