/// @file
/// An all-reduce in a ring, by hand, as a textbook has it.
#pragma once

#include "cuda/handles.hpp"
#include "mpi/world.hpp"
#include "network/shard.hpp"
#include "tensor/tensor.hpp"

namespace stagewise::ladder {

/// Adds up over all ranks in the hosts' memory: each rank sends to the next one and receives from
/// the one before, all at the same time, 2 (N - 1) times 1/N of the message.
template <typename T>
class Ring {
 public:
  /// @param world must outlive this.
  /// @param count numbers of a message.
  Ring(mpi::World& world, Index count);

  /// Copies the numbers from the GPU to the host, adds them up there, and copies the sums back.
  /// Waits for the other ranks.
  void add_up(const cuda::Stream& stream, T* values);

 private:
  void exchange(const Shard& sent, const Shard& received);

  mpi::World* world_;
  Tensor<T> values_;    ///< pinned
  Tensor<T> received_;  ///< a shard
};

}  // namespace stagewise::ladder
