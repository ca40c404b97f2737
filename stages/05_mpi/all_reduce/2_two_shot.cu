/// @file
/// Two-shot all-reduce: each rank adds up a shard of the message and writes the sums to all ranks.
///
/// The one-shot sum sends everything to everybody, twice as large, which for long messages takes
/// longer than all its waiting. What changes:
///
/// - Of N ranks, rank r adds up shard r: it reads that shard from all others, straight from where
///   they have computed it, and writes the sums over the numbers of all. So 2 (N - 1) / N of the
///   message leave a GPU instead of 2 (N - 1), as in a ring, but in two steps instead of 2 (N - 1).
/// - Each rank begins with the one after it, and goes around. If all began with rank 0, they would
///   all wait for its link, while the other links have nothing to do.
/// - The data carry no flags, so there are two barriers among the ranks: before, since all must
///   have computed their numbers, and after, since all must have the sums. They are barriers of
///   block i with the others' blocks i, not of whole grids.
///
/// In the order of the ranks, again: the sums have the bits of those of 1_one_shot.cu.
///
/// With an Update, the sums are gradients of parameters that are the same on all ranks. Then the
/// rank that adds up a shard computes the new parameters and writes them to all ranks instead of
/// the sums: no other kernel has to read the sums and update.
///
/// Bytes: (N - 1) / N of the message each way while shards are read, and while sums are written.
/// Run it: mpirun -n 2 ladder all-reduce --rung two-shot

#include <algorithm>

#include "05_mpi/all_reduce/kernel_for.cuh"
#include "05_mpi/all_reduce/wait.cuh"
#include "cuda/launch.cuh"
#include "network/shard.hpp"

namespace stagewise::mpi {
namespace {

constexpr int two_shot_threads = 512;

//! [barrier]
/// Waits until the other ranks' blocks of the same number have come here, too. What they have
/// written before can then be read.
/// @param goal the value of the flags, larger each time.
/// @return whether all have come.
template <typename T>
__device__ bool barrier(const TwoShot<T>& sum, std::uint64_t goal) {
  const Peers& peers = sum.peers;
  const int other = static_cast<int>(threadIdx.x);
  bool is_here = true;
  __syncthreads();  // what this block's other threads have written is part of what is released
  if (other < peers.count && other != peers.rank) {
    const auto flag = [&](int of, int set_by) {
      return SharedWord<std::uint64_t>(sum.flags[of][blockIdx.x * max_peers + set_by]);
    };
    flag(other, peers.rank).store(goal, ::cuda::memory_order_release);
    Wait wait(peers.patience);
    while (is_here && flag(peers.rank, other).load(::cuda::memory_order_acquire) < goal) {
      is_here = !wait.is_over(other);
    }
  }
  return __syncthreads_and(is_here ? 1 : 0) != 0;
}
//! [barrier]

/// The rank whose turn it is: first the one after `rank`, last `rank` itself.
template <int ranks>
__device__ int rank_of_turn(int rank, int turn) {
  const int next = rank + 1 + turn;
  return next < ranks ? next : next - ranks;
}

/// Adds the parts, which are stored in the order of turns, in the order of the ranks. Registers
/// cannot be indexed at run time, so each order is unrolled, and `rank` selects one.
template <int ranks, int at_once, typename Vector>
__device__ Vector add_in_order(const Vector (&parts)[ranks][at_once], int k, int rank) {  // NOLINT
  Vector total = {};
#pragma unroll
  for (int own = 0; own < ranks; ++own) {
    if (own != rank) continue;
    total = parts[ranks - 1 - own][k];  // rank 0's
#pragma unroll
    for (int r = 1; r < ranks; ++r) {
#pragma unroll
      for (int v = 0; v < Vector::size; ++v) {
        total.values[v] += parts[(ranks - 1 - own + r) % ranks][k].values[v];
      }
    }
  }
  return total;
}

//! [reduce]
/// Adds up a shard: each thread `at_once` vectors at a time from each rank, so that many loads are
/// on their way. What goes back to all ranks are the sums or, with `updates`, the new parameters.
template <typename T, int ranks, int at_once, bool updates>
__device__ void reduce(const TwoShot<T>& sum, const Shard& shard) {
  using Vector = PeerVector<T>;
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  const Index end = shard.first + shard.rows;
  for (Index i = shard.first + cuda::index_x(); i < end; i += at_once * step) {
    Vector parts[ranks][at_once] = {};  // NOLINT(modernize-avoid-c-arrays)
#pragma unroll
    for (int turn = 0; turn < ranks; ++turn) {
      const int r = rank_of_turn<ranks>(sum.peers.rank, turn);
      const Vector* const from = reinterpret_cast<const Vector*>(sum.values[r]);
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        if (i + k * step < end) parts[turn][k] = load_peer(from + i + k * step);
      }
    }
    Vector before[updates ? at_once : 1] = {};  // NOLINT(modernize-avoid-c-arrays)
    if constexpr (updates) {
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const Vector* const from = reinterpret_cast<const Vector*>(sum.update.parameters);
        if (i + k * step < end) before[k] = load_peer(from + i + k * step);
      }
    }
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      if (i + k * step >= end) continue;
      Vector total = add_in_order(parts, k, sum.peers.rank);
      if constexpr (updates) {
#pragma unroll
        for (int v = 0; v < Vector::size; ++v) {
          const Index at = (i + k * step) * Vector::size + v;
          total.values[v] = sum.update.after(at, before[k].values[v], total.values[v]);
        }
      }
#pragma unroll
      for (int turn = 0; turn < ranks; ++turn) {
        const int r = rank_of_turn<ranks>(sum.peers.rank, turn);
        reinterpret_cast<Vector*>(updates ? sum.parameters[r] : sum.values[r])[i + k * step] =
            total;
      }
    }
  }
}
//! [reduce]

template <typename T, int ranks, bool updates>
__global__ void __launch_bounds__(two_shot_threads)
    two_shot_kernel(const __grid_constant__ TwoShot<T> sum, Shard own) {
  const std::uint64_t number = number_of_sum(sum.numbers);
  if (number == 0) return;
  bool is_whole = barrier(sum, 2 * number);
  if (is_whole) {
    reduce<T, ranks, max_peers / ranks, updates>(sum, own);
    is_whole = barrier(sum, 2 * number + 1);
  }
  count_sum(sum.numbers, is_whole ? number : std::uint64_t{0});
}

template <typename T, bool updates>
auto two_shot_kernel_for(int ranks) {
  return kernel_for(ranks, [&]<int r>() { return two_shot_kernel<T, r, updates>; });
}

}  // namespace

/// See peers.hpp.
template <typename T>
int resident_two_shot_blocks(int ranks) {
  return std::min(resident_blocks(two_shot_kernel_for<T, false>(ranks), two_shot_threads),
                  resident_blocks(two_shot_kernel_for<T, true>(ranks), two_shot_threads));
}

template <typename T>
void two_shot(cudaStream_t stream, const TwoShot<T>& sum, int blocks) {
  const Index vectors = sum.count / PeerVector<T>::size;
  Shard own = shard_of(vectors, sum.peers.count, sum.peers.rank);
  // The first shard is the largest: every rank's grid has the same size.
  const Index most = shard_of(vectors, sum.peers.count, 0).rows;
  const Index grid = std::clamp<Index>(cuda::pieces(most, two_shot_threads), 1, blocks);
  TwoShot<T> argument = sum;
  void* arguments[] = {&argument, &own};  // NOLINT(modernize-avoid-c-arrays)
  const auto kernel = sum.update.parameters != nullptr
                          ? two_shot_kernel_for<T, true>(sum.peers.count)
                          : two_shot_kernel_for<T, false>(sum.peers.count);
  CUDA_CHECK(cudaLaunchCooperativeKernel(kernel, dim3(static_cast<unsigned>(grid)),
                                         dim3(two_shot_threads), arguments, 0, stream));
}

template int resident_two_shot_blocks<float>(int);
template int resident_two_shot_blocks<double>(int);
template void two_shot(cudaStream_t, const TwoShot<float>&, int);
template void two_shot(cudaStream_t, const TwoShot<double>&, int);

}  // namespace stagewise::mpi
