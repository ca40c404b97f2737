/// @file
/// What the kernels that add up over several GPUs know of the other ranks.
///
/// Every rank runs the same kernel on its own GPU, and the kernels talk to each other: each reads
/// and writes the memory of the other GPUs over NVLink, and waits in a loop for what they write.
/// The rules that keep such kernels from waiting for ever are few:
///
/// - Block i waits for blocks i of the other ranks only, and all blocks of a grid are resident.
/// - All ranks begin the same sums in the same order, and a rank's sums never overlap.
/// - A wait has an end: a kernel gives up when it has waited for Patience::nanoseconds, or when
///   another has given up before.
#pragma once

#include <cmath>
#include <cstdint>

#include <cuda_runtime.h>

#include "tensor/shape.hpp"

namespace stagewise::mpi {

/// The most ranks that can add up directly: as many GPUs as a host connects by NVLink.
constexpr int max_peers = 8;

/// The most blocks of a kernel that adds up.
constexpr int max_sum_blocks = 128;

/// How long a kernel waits for other ranks.
struct Patience {
  /// In the host's memory, where host and GPU can see it: 0, or 1 + the rank for which a kernel has
  /// waited in vain. Once it is set, no kernel waits any longer.
  unsigned* lost = nullptr;
  std::int64_t nanoseconds = 0;  ///< a kernel waits no longer
};

/// A rank among those that add up.
struct Peers {
  int rank = 0;   ///< this one
  int count = 1;  ///< of all ranks
  Patience patience = {};
};

/// What is done with sums of gradients, unless they are stored: an update of the parameters.
template <typename T>
struct Update {
  T* parameters = nullptr;  ///< this rank's, one for each number; null: sums are stored
  T learning_rate = 0;
  T l2 = 0;           ///< of the parameters from `l2_from` on: weights
  Index l2_from = 0;  ///< before it, parameters without l2: biases

  /// Parameter `at` after the update by its gradient: the same bits in every kernel, because no
  /// compiler chooses where it rounds.
  __host__ __device__ T after(Index at, T parameter, T gradient) const {
    const T decay = at < l2_from ? T{0} : l2;
    return std::fma(-learning_rate, std::fma(decay, parameter, gradient), parameter);
  }

  /// The update of the parameters from `first` on.
  Update from(Index first) const {
    if (parameters == nullptr) return *this;
    return {parameters + first, learning_rate, l2, l2_from > first ? l2_from - first : 0};
  }
};

// std::array has no functions for kernels.
// NOLINTBEGIN(modernize-avoid-c-arrays)

struct FlaggedWord;

/// A sum for which each rank sends its numbers to all others; see 1_one_shot.cu.
template <typename T>
struct OneShot {
  Peers peers;
  T* values = nullptr;  ///< this rank's numbers, which become the sums
  Index count = 0;
  Update<T> update = {};
  /// Each rank's inbox: in either half `capacity` words from each rank.
  FlaggedWord* inbox[max_peers] = {};
  Index capacity = 0;
  std::uint32_t* numbers = nullptr;  ///< on this GPU: the last sum's number, for each block
};

/// A sum for which each rank adds up a shard of the numbers; see 2_two_shot.cu.
template <typename T>
struct TwoShot {
  Peers peers;
  T* values[max_peers] = {};  ///< each rank's numbers, aligned to 16 bytes
  Update<T> update = {};
  T* parameters[max_peers] = {};  ///< each rank's, if they are updated: aligned like the numbers
  Index count = 0;                ///< rounded up to a multiple of 16 bytes, which the memory has
  /// Each rank's flags: for each block, one that each rank sets.
  std::uint64_t* flags[max_peers] = {};
  std::uint64_t* numbers = nullptr;  ///< on this GPU: the last sum's number, for each block
};

// NOLINTEND(modernize-avoid-c-arrays)

/// Words of 8 bytes that hold so many numbers.
template <typename T>
__host__ __device__ constexpr Index words_of(Index count) {
  constexpr Index in_word = 8 / sizeof(T);
  return (count + in_word - 1) / in_word;
}

/// @name The most blocks of a kernel that this GPU runs at the same time
/// Also loads the kernel, which must not happen while another one waits.
/// @{
template <typename T>
int resident_one_shot_blocks(int ranks);
template <typename T>
int resident_two_shot_blocks(int ranks);
/// @}

/// Enqueues a sum.
/// @param blocks the most that the grid may have.
template <typename T>
void one_shot(cudaStream_t stream, const OneShot<T>& sum, int blocks);

/// Enqueues a sum.
/// @param blocks the same on all ranks: the most that the grid may have.
template <typename T>
void two_shot(cudaStream_t stream, const TwoShot<T>& sum, int blocks);

}  // namespace stagewise::mpi
