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
#include "05_mpi/transport.hpp"

namespace stagewise::mpi {

/// The longest message for which so many ranks are faster in one shot.
std::size_t max_one_shot_bytes(int ranks);

/// Kernels add up, which read and write the memory of the other GPUs. As with NCCL, a sum is work
/// in a stream, and a recorded step contains it. Unlike NCCL's, these kernels are part of this
/// project: see all_reduce/. All ranks get the same bits: each number is added up in the order of
/// the ranks.
///
/// All ranks begin the same sums in the same order, and each sum of a rank is enqueued such that it
/// begins after the one before has ended. Recordings are destroyed before this.
/// @tparam T float or double.
template <typename T>
class PeerTransport final : public Transport<T> {
 public:
  /// Waits for the other ranks.
  /// @param world must outlive this; its ranks are on one host, at most max_peers.
  /// @param patience how long a kernel waits for another rank.
  /// @throws Error if a GPU cannot access another, or there is too little memory.
  PeerTransport(Communicator& world, std::chrono::seconds patience);

  bool can_be_recorded() const override { return true; }

  /// Places that all ranks can access, so that long messages there can be added up in two shots.
  /// They contain zeros.
  std::vector<T*> memory_for(std::span<const Index> counts) override;

  void begin(std::span<const Piece<T>> bucket, const cuda::Stream& stream) override;
  void finish() override {}
  void check() override;

  /// Where all ranks can access these: in memory_for() something. Null: nowhere.
  const PeerBuffer* buffer_of(const T* values, Index count) const;

  /// Enqueues the sum, in the way that takes less time.
  /// @param piece if its update has parameters, they are updated by the sums, which are not stored.
  ///        They must be the same on all ranks.
  void add_up(const cuda::Stream& stream, const Piece<T>& piece);

  /// Enqueues the sum in one shot; a message of more than max_one_shot_bytes() as several sums.
  void one_shot(const cuda::Stream& stream, const Piece<T>& piece);

  /// Enqueues the sum in two shots.
  /// @param piece its values are in memory_for() something, at a multiple of 16 bytes, as must be
  ///        the update's parameters.
  void two_shot(const cuda::Stream& stream, const Piece<T>& piece);

  /// The rank for which a kernel has waited in vain. Then sums are no longer computed.
  std::optional<int> lost_rank() const;

 private:
  bool follows(const Piece<T>& message, const Piece<T>& piece) const;

  Communicator* world_;
  std::chrono::seconds patience_;
  Peers peers_;
  int blocks_ = 0;                        ///< the most of a grid, the same on all ranks
  Tensor<unsigned> lost_;                 ///< in pinned memory; see Patience
  Tensor<std::uint32_t> one_shot_count_;  ///< on the GPU; see number_of_sum()
  Tensor<std::uint64_t> two_shot_count_;  ///< the same
  PeerBuffer inboxes_;
  PeerBuffer flags_;
  std::deque<PeerBuffer> buffers_;  ///< from memory_for()
};

/// Why kernels cannot access the other GPUs here; empty if they can.
///
/// With CUDA on the CPU, the memory of an emulated GPU is shared among processes.
std::string reason_against_peer(const Placement& placement);

}  // namespace stagewise::mpi
