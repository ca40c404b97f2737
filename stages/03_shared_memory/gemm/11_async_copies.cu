/// @file
/// GEMM, rung 11: copies to shared memory that bypass the registers.
///
/// In rung 10, a thread holds the numbers that are in flight in registers, and stores them with
/// instructions of their own. GPUs of compute capability 8.0 and above (Ampere) copy from global to
/// shared memory by themselves (`cp.async`): a thread requests the copies, multiplies, and waits
/// for them when it needs them. So a third buffer lets two k tiles be in flight, at no cost in
/// registers, and a thread's tile can be 8 x 8 in double, too.
///
/// The price: a copy cannot transpose a vector. If A's memory runs along k, its tile stays as it
/// is, [row][step], and a lane reads vectors of steps: those of its eight rows, good for four steps
/// in float. Padded by a vector, the four rows that a warp reads together are in different banks.
/// B's columns must be neighbours in registers, since they are stored as vectors; if its memory
/// runs along k, it is copied scalar by scalar, and transposed.
///
/// Run it: `ladder gemm --rung async-copies`.
/// Work: as rung 10, without the stores to shared memory; in double, m n k / 4 numbers from shared
/// memory instead of 3/8 m n k.
/// Measured on an H200, 800 x 1000 x 784: 46.5 us in float, 86.6 us in double.

#include "03_shared_memory/gemm/load_tile.cuh"
#include "03_shared_memory/gemm/rungs.hpp"
#include "03_shared_memory/vector.cuh"
#include "cuda/check.hpp"

namespace stagewise::shared_memory {
namespace {

constexpr int buffers = 3;
constexpr int BK = 8;  // steps along k at a time
constexpr int TM = 8;  // rows of a thread's tile
constexpr int TN = 8;
constexpr int WM = 4 * TM;  // rows of a warp's tile
constexpr int WN = 8 * TN;
constexpr int BM = 2 * WM;  // rows of a block's tile
constexpr int BN = 2 * WN;
constexpr int threads = 32 * (BM / WM) * (BN / WN);

//! [async_tile]
/// The buffers of a factor, and a thread's copies to them: `extent` rows of op(A), or columns of
/// op(B), and BK steps in each.
/// @tparam length how many neighbours are copied at once.
/// @tparam tile_k_major whether the steps of a row are stored together; else, the rows of a step
/// are.
template <typename T, int extent, int length, bool tile_k_major>
class AsyncTile {
 public:
  static constexpr int group = Vector<T>::length;
  using Buffers = T[buffers][tile_k_major ? extent : BK][(tile_k_major ? BK : extent) + group];

  /// For op(A), with `end` rows, or op(B), with `end` columns, from row or column `first` on.
  /// @param k_major whether its memory runs along k.
  __device__ AsyncTile(Buffers& values, const T* data, bool k_major, Index first, Index end,
                       Index steps)
      : values_(values), at_{is_known ? tile_k_major : k_major}, rows_(end - first) {
    stride_ = at_.k_major ? 1 : end;
#pragma unroll
    for (int i = 0; i < At::count; ++i) {
      from_[i] = data + (first + at_.row(i)) * (at_.k_major ? steps : 1) + at_.step(i) * stride_;
    }
  }

  /// Requests this thread's copies of the next k tile, from the `steps` steps that are left. What
  /// does not exist is copied as zeros.
  __device__ void copy(int buffer, Index steps) {
#pragma unroll
    for (int i = 0; i < At::count; ++i) {
      T* const to = tile_k_major ? &values_[buffer][at_.row(i)][at_.step(i)]
                                 : &values_[buffer][at_.step(i)][at_.row(i)];
      copy_async<length * sizeof(T)>(to, from_[i], at_.row(i) < rows_ && at_.step(i) < steps);
      from_[i] += BK * stride_;
    }
  }

  /// Reads a lane's `count` rows of a group of steps. `first` is its warp's first.
  template <int lanes, int rows>
  __device__ void read(T (&to)[group][rows], int buffer, int first, int lane, int step) const {
#pragma unroll
    for (int i = 0; i < (tile_k_major ? rows : group); ++i) {
      if constexpr (tile_k_major) {
        T steps[group];
        load_vector(steps, &values_[buffer][first + row_of_lane<lanes>(i, lane)][step]);
#pragma unroll
        for (int j = 0; j < group; ++j) to[j][i] = steps[j];
      } else {
#pragma unroll
        for (int r = 0; r < rows; r += group) {
          load_vector(&to[i][r], &values_[buffer][step + i][first + row_of_lane<lanes>(r, lane)]);
        }
      }
    }
  }

  /// Which row of its warp a lane's row number `r` is: one of every `lanes`, or groups of rows.
  template <int lanes>
  static __device__ int row_of_lane(int r, int lane) {
    return tile_k_major ? r * lanes + lane : (r / group * lanes + lane) * group + r % group;
  }

 private:
  static constexpr bool is_known = length > 1;  // how memory runs
  using At = ThreadGroups<threads, extent, BK, length>;

  Buffers& values_;
  At at_;
  Index rows_;
  Index stride_;  ///< from a step to the next
  const T* from_[At::count];
};
//! [async_tile]

//! [async_copies]
/// @tparam length_a,length_b,tile_k_major see AsyncTile; B does not.
template <typename T, int length_a, bool tile_k_major, int length_b>
__global__ void __launch_bounds__(threads, 2)
    gemm_async_copies_kernel(GemmProblem<T> p, bool c_has_vectors) {
  using TileA = AsyncTile<T, BM, length_a, tile_k_major>;
  using TileB = AsyncTile<T, BN, length_b, false>;
  constexpr int group = Vector<T>::length;
  __shared__ alignas(16) typename TileA::Buffers a_values;
  __shared__ alignas(16) typename TileB::Buffers b_values;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int lane_row = lane % 2 + lane / 16 * 2;  // see rung 10
  const int lane_column = lane / 2 % 8;
  const int y = warp / (BN / WN) * WM;
  const int x = warp % (BN / WN) * WN;
  const auto [top, left] = corner_of_tile<BM, BN>(p.n);
  TileA a(a_values, p.a, p.op_a == Transpose::no, top, p.m, p.k);
  TileB b(b_values, p.b, p.op_b == Transpose::yes, left, p.n, p.k);
  T sums[TM][TN] = {};
#pragma unroll
  for (int i = 0; i < buffers - 1; ++i) {
    a.copy(i, p.k - i * BK);
    b.copy(i, p.k - i * BK);
    __pipeline_commit();
  }
  int now = 0;  // the buffer that is multiplied
  for (Index step = 0; step < p.k; step += BK) {
    __pipeline_wait_prior(buffers - 2);
    __syncthreads();  // this k tile is complete, and nobody reads the one before it any more
    const int free = now == 0 ? buffers - 1 : now - 1;
    a.copy(free, p.k - step - (buffers - 1) * BK);
    b.copy(free, p.k - step - (buffers - 1) * BK);
    __pipeline_commit();
#pragma unroll
    for (int first = 0; first < BK; first += group) {
      T of_a[group][TM];
      T of_b[group][TN];
      a.template read<4>(of_a, now, y, lane_row, first);
      b.template read<8>(of_b, now, x, lane_column, first);
#pragma unroll
      for (int i = 0; i < group; ++i) {
#pragma unroll
        for (int r = 0; r < TM; ++r) {
#pragma unroll
          for (int s = 0; s < TN; ++s) sums[r][s] += of_a[i][r] * of_b[i][s];
        }
      }
    }
    now = now + 1 < buffers ? now + 1 : 0;
  }
  __pipeline_wait_prior(0);
#pragma unroll
  for (int r = 0; r < TM; ++r) {
    const Index row = top + y + TileA::template row_of_lane<4>(r, lane_row);
    if (row >= p.m) continue;
#pragma unroll
    for (int s = 0; s < TN; s += group) {
      const Index column = left + x + TileB::template row_of_lane<8>(s, lane_column);
      store_vector(p.c + row * p.n + column, &sums[r][s], p.n - column, p.alpha, p.beta,
                   c_has_vectors);
    }
  }
}
//! [async_copies]

template <int length_a, bool tile_k_major, int length_b, typename T>
void launch(cudaStream_t stream, const GemmProblem<T>& p) {
  const dim3 grid = grid_of_tiles(p.m, p.n, BM, BN);
  gemm_async_copies_kernel<T, length_a, tile_k_major, length_b>
      <<<grid, threads, 0, stream>>>(p, is_aligned(p.c, p.n));
  CUDA_CHECK_LAUNCH("gemm (async copies)");
}

}  // namespace

template <typename T>
void gemm_async_copies(cudaStream_t stream, const GemmProblem<T>& p, Workspace& /*workspace*/) {
  constexpr int vector = Vector<T>::length;
  const bool a_is_k_major = p.op_a == Transpose::no;
  const bool b_is_k_major = p.op_b == Transpose::yes;
  if (!have_vectors(p)) {
    launch<1, false, 1>(stream, p);
  } else if (a_is_k_major) {
    b_is_k_major ? launch<vector, true, 1>(stream, p) : launch<vector, true, vector>(stream, p);
  } else {
    b_is_k_major ? launch<vector, false, 1>(stream, p) : launch<vector, false, vector>(stream, p);
  }
}

template void gemm_async_copies(cudaStream_t, const GemmProblem<float>&, Workspace&);
template void gemm_async_copies(cudaStream_t, const GemmProblem<double>&, Workspace&);

}  // namespace stagewise::shared_memory
