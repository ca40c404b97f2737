/// @file
/// Sums over several GPUs of one host by kernels that access each other's memory.
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "05_mpi/all_reduce/peer_buffer.hpp"
#include "05_mpi/all_reduce/peers.hpp"
#include "cuda/handles.hpp"

namespace stagewise::mpi {

/// Adds up numbers over all ranks, in place. Every sum is a kernel, so it can be recorded, and all
/// ranks get the same bits: each number is added up in the order of the ranks.
///
/// All ranks begin the same sums in the same order, and each sum of a rank is enqueued such that it
/// begins after the one before has ended. Recordings are destroyed before this.
/// @tparam T float or double.
template <typename T>
class PeerAllReduce {
 public:
  /// Waits for the other ranks.
  /// @param world must outlive this; its ranks are on one host, at most max_peers.
  /// @param patience how long a kernel waits for another rank.
  /// @throws Error if a GPU cannot access another, or there is too little memory.
  PeerAllReduce(Communicator& world, std::chrono::seconds patience);

  /// Memory for so many numbers each, one after another, each at a multiple of `alignment` bytes.
  /// All ranks can access it, so that long messages in it can be added up in two shots. It contains
  /// zeros. Waits for the other ranks, which must call it with the same numbers.
  std::vector<T*> allocate(std::span<const Index> counts);

  /// The alignment of what allocate() returns; what lies between two numbers may be added up, too.
  static constexpr std::size_t alignment = 256;

  /// Whether these are in memory from allocate().
  bool is_shared(const T* values, Index count) const;

  /// Enqueues the sum, in the way that takes less time.
  /// @param update if it has parameters, they are updated by the sums, which are not stored. They
  ///        must be the same on all ranks.
  void add_up(const cuda::Stream& stream, T* values, Index count, const Update<T>& update = {});

  /// Enqueues the sum in one shot; a message of more than max_one_shot_bytes() as several sums.
  void one_shot(const cuda::Stream& stream, T* values, Index count, const Update<T>& update = {});

  /// Enqueues the sum in two shots.
  /// @param values from allocate(), at a multiple of 16 bytes, as must be the update's parameters.
  void two_shot(const cuda::Stream& stream, T* values, Index count, const Update<T>& update = {});

  /// The longest message that takes less time in one shot.
  std::size_t max_one_shot_bytes() const;

  /// The rank for which a kernel has waited in vain. Then sums are no longer computed.
  std::optional<int> lost_rank() const;

 private:
  const PeerBuffer* buffer_of(const T* values, Index count) const;

  Communicator* world_;
  Peers peers_;
  int blocks_ = 0;                        ///< the most of a grid, the same on all ranks
  Tensor<unsigned> lost_;                 ///< in pinned memory; see Patience
  Tensor<std::uint32_t> one_shot_count_;  ///< on the GPU; see number_of_sum()
  Tensor<std::uint64_t> two_shot_count_;  ///< the same
  PeerBuffer inboxes_;
  PeerBuffer flags_;
  std::deque<PeerBuffer> buffers_;  ///< from allocate()
};

}  // namespace stagewise::mpi
