/// @file
/// An all-reduce in a ring, by hand, as a textbook has it.
#pragma once

#include <algorithm>

#include "cuda/check.hpp"
#include "cuda/handles.hpp"
#include "cuda/memory.hpp"
#include "mpi/check.hpp"
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
  Ring(mpi::World& world, Index count)
      : world_(&world),
        values_({count}, cuda::pinned_memory()),
        received_({std::max<Index>(shard_of(count, world.size(), 0).rows, 1)}) {}

  //! [ring]
  /// Copies the numbers from the GPU to the host, adds them up there, and copies the sums back.
  /// Waits for the other ranks.
  void add_up(const cuda::Stream& stream, T* values) {
    const auto bytes = static_cast<std::size_t>(values_.elements()) * sizeof(T);
    CUDA_CHECK(cudaMemcpyAsync(values_.data(), values, bytes, cudaMemcpyDeviceToHost, stream.get()));
    stream.synchronize();
    const int ranks = world_->size();
    const auto shard = [&](int number) {
      return shard_of(values_.elements(), ranks, (number % ranks + ranks) % ranks);
    };
    // In step s, a rank passes on the shard that it has completed in the step before. After N - 1
    // steps each has the sum of one shard, and after N - 1 more all have all of them.
    for (int step = 0; step < 2 * (ranks - 1); ++step) {
      const Shard sent = shard(world_->rank() - step);
      const Shard received = shard(world_->rank() - step - 1);
      exchange(sent, received);
      T* const to = values_.data() + received.first;
      for (Index i = 0; i < received.rows; ++i) {
        to[i] = step < ranks - 1 ? to[i] + received_.data()[i] : received_.data()[i];
      }
    }
    CUDA_CHECK(cudaMemcpyAsync(values, values_.data(), bytes, cudaMemcpyHostToDevice, stream.get()));
    stream.synchronize();
  }
  //! [ring]

 private:
  /// Sends a shard to the next rank while another one arrives from the rank before.
  void exchange(const Shard& sent, const Shard& received) {
    const int next = (world_->rank() + 1) % world_->size();
    const int before = (world_->rank() + world_->size() - 1) % world_->size();
    MPI_CHECK(MPI_Sendrecv(values_.data() + sent.first, static_cast<int>(sent.rows), mpi::type_of<T>(), next, 0,
                           received_.data(), static_cast<int>(received.rows), mpi::type_of<T>(), before, 0,
                           world_->communicator(), MPI_STATUS_IGNORE));
  }

  mpi::World* world_;
  Tensor<T> values_;    ///< pinned
  Tensor<T> received_;  ///< a shard
};

}  // namespace stagewise::ladder
