/// @file
/// One-shot all-reduce: each rank sends its numbers to all others, and each adds up all of them.
///
/// Through the host, or in a ring, a sum is a chain of messages, and each of them waits for a flag
/// before it may touch the data. What changes: there is one message from each rank to each other,
/// and its data carry their own flags (FlaggedWord), so a sum takes the time that a store needs to
/// reach the other GPU: no barrier, no fence, no copy.
///
/// - Each rank adds in the order of the ranks, so all get the same bits.
/// - A word lies in an inbox until the receiver has read it, and the sender is not told. So there
///   are two inboxes, for odd and for even numbers of sums. Who sends the words of sum n + 2 has
///   finished sum n + 1, for which all others have sent words, which they did after sum n.
///
/// Bytes: of a message of n bytes, each rank sends 2 n to each other rank. For long messages that
/// is more than needed; see 2_two_shot.cu.
/// Run it: mpirun -n 2 ladder all-reduce --rung one-shot

#include <algorithm>
#include <cstring>

#include "05_mpi/all_reduce/kernel_for.cuh"
#include "05_mpi/all_reduce/wait.cuh"
#include "cuda/launch.cuh"

namespace stagewise::mpi {
namespace {

constexpr int one_shot_threads = 512;

// NOLINTBEGIN(modernize-avoid-c-arrays)

/// The numbers that a word holds.
template <typename T>
struct InWord {
  static constexpr int size = 8 / sizeof(T);
  T values[size];

  __device__ static InWord from(std::uint64_t data) {
    InWord numbers;
    std::memcpy(&numbers, &data, sizeof(numbers));
    return numbers;
  }

  __device__ std::uint64_t data() const {
    std::uint64_t data = 0;
    std::memcpy(&data, this, sizeof(data));
    return data;
  }
};

/// Those of word i. The last word may hold fewer.
template <typename T>
__device__ InWord<T> load_numbers(const OneShot<T>& sum, Index i) {
  InWord<T> numbers = {};
#pragma unroll
  for (int k = 0; k < InWord<T>::size; ++k) {
    const Index at = i * InWord<T>::size + k;
    if (at < sum.count) numbers.values[k] = sum.values[at];
  }
  return numbers;
}

/// Where a rank's words of a sum are in an inbox.
template <typename T>
__device__ Index place_in_inbox(const OneShot<T>& sum, std::uint32_t number, int from) {
  return (static_cast<Index>(number % 2) * sum.peers.count + from) * sum.capacity;
}

//! [collect]
/// Waits for word i of all other ranks, and replaces this rank's numbers by the sums, or updates
/// its parameters by them.
/// @return whether all have arrived.
template <typename T, int ranks>
__device__ bool collect(const OneShot<T>& sum, std::uint32_t number, Index i) {
  const Peers& peers = sum.peers;
  FlaggedWord words[ranks] = {};
  Wait wait(peers.patience);
  for (int missing = 0; missing >= 0;) {
    // All loads are on their way before the first is looked at: a thread waits once, not in turn.
#pragma unroll
    for (int r = 0; r < ranks; ++r) {
      if (r == peers.rank) continue;
      words[r] = look(&sum.inbox[peers.rank][place_in_inbox(sum, number, r) + i]);
    }
    missing = -1;
#pragma unroll
    for (int r = 0; r < ranks; ++r) {
      if (r != peers.rank && !words[r].has(number)) missing = r;
    }
    if (missing >= 0 && wait.is_over(missing)) return false;
  }
#pragma unroll
  for (int r = 0; r < ranks; ++r) {
    if (r == peers.rank) continue;
    FlaggedWord* const at = &sum.inbox[peers.rank][place_in_inbox(sum, number, r) + i];
    cuda::declare_received(&at->low, number);
    cuda::declare_received(&at->high, number);
  }
  const InWord<T> own = load_numbers(sum, i);
  InWord<T> total = {};
#pragma unroll
  for (int r = 0; r < ranks; ++r) {
    const InWord<T> of_rank = r == peers.rank ? own : InWord<T>::from(words[r].data());
#pragma unroll
    for (int k = 0; k < InWord<T>::size; ++k) {
      total.values[k] = r == 0 ? of_rank.values[k] : total.values[k] + of_rank.values[k];
    }
  }
#pragma unroll
  for (int k = 0; k < InWord<T>::size; ++k) {
    const Index at = i * InWord<T>::size + k;
    if (at >= sum.count) continue;
    if (sum.update.parameters == nullptr) {
      sum.values[at] = total.values[k];
    } else {
      T& parameter = sum.update.parameters[at];
      parameter = sum.update.after(at, parameter, total.values[k]);
    }
  }
  return true;
}
//! [collect]

template <typename T, int ranks>
__global__ void __launch_bounds__(one_shot_threads)
    one_shot_kernel(const __grid_constant__ OneShot<T> sum) {
  const std::uint32_t number = number_of_sum(sum.numbers);
  if (number == 0) return;
  const Index words = words_of<T>(sum.count);
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  const Index to = place_in_inbox(sum, number, sum.peers.rank);
  for (Index i = cuda::index_x(); i < words; i += step) {
    const auto word = FlaggedWord::make(load_numbers(sum, i).data(), number);
#pragma unroll
    for (int r = 0; r < ranks; ++r) {
      if (r != sum.peers.rank) send(&sum.inbox[r][to + i], word);
    }
  }
  bool is_whole = true;
  for (Index i = cuda::index_x(); i < words && is_whole; i += step) {
    is_whole = collect<T, ranks>(sum, number, i);
  }
  count_sum(sum.numbers, __syncthreads_and(is_whole ? 1 : 0) != 0 ? number : 0U);
}

// NOLINTEND(modernize-avoid-c-arrays)

template <typename T>
auto one_shot_kernel_for(int ranks) {
  return kernel_for(ranks, [&]<int r>() { return one_shot_kernel<T, r>; });
}

}  // namespace

/// See peers.hpp.
template <typename T>
int resident_one_shot_blocks(int ranks) {
  return resident_blocks(one_shot_kernel_for<T>(ranks), one_shot_threads);
}

template <typename T>
void one_shot(cudaStream_t stream, const OneShot<T>& sum, int blocks) {
  const Index grid =
      std::min<Index>(cuda::pieces(words_of<T>(sum.count), one_shot_threads), blocks);
  OneShot<T> argument = sum;
  void* arguments[] = {&argument};  // NOLINT(modernize-avoid-c-arrays)
  // All blocks of a cooperative launch are resident, or it fails.
  CUDA_CHECK(cudaLaunchCooperativeKernel(one_shot_kernel_for<T>(sum.peers.count),
                                         dim3(static_cast<unsigned>(grid)), dim3(one_shot_threads),
                                         arguments, 0, stream));
}

template int resident_one_shot_blocks<float>(int);
template int resident_one_shot_blocks<double>(int);
template void one_shot(cudaStream_t, const OneShot<float>&, int);
template void one_shot(cudaStream_t, const OneShot<double>&, int);

}  // namespace stagewise::mpi
