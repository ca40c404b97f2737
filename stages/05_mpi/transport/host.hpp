/// @file
/// Sums by way of the host's memory: works with every MPI.
#pragma once

#include <deque>
#include <vector>

#include "05_mpi/transport.hpp"
#include "tensor/tensor.hpp"

namespace stagewise::mpi {

/// Copies a message to pinned memory on the host, adds it up there by MPI_Allreduce, and copies the
/// sum back.
///
/// Three queues work side by side: while the device computes the gradient of one layer in its
/// stream, the gradient of the layer above leaves through the second stream, the host adds up the
/// one above that, and the sum of the one above that returns through the third. The host itself
/// runs through all of a step's begin() before the device is done with its first kernel, and comes
/// to finish() in time to wait for the first message.
template <typename T>
class HostTransport final : public Transport<T> {
 public:
  /// See make_transport().
  HostTransport(World& world, const cuda::Stream& stream, Index most, bool overlaps);

  void begin(std::span<const Piece<T>> message) override;
  void finish() override;

 private:
  /// On its way.
  struct Message {
    std::vector<Piece<T>> pieces;
    Index first = 0;  ///< its place in the host's memory
    Index count = 0;
    const cuda::Event* arrived = nullptr;  ///< in the host's memory
  };

  void copy_out(const Message& message, const cuda::Stream& stream);
  void copy_in(const Message& message, const cuda::Stream& stream);
  void finish_together();
  const cuda::Event& event(std::size_t number);

  World* world_;
  const cuda::Stream* stream_;
  bool overlaps_;
  Tensor<T> host_;  ///< pinned: room for all messages
  cuda::Stream way_out_;
  cuda::Stream way_back_;
  cuda::Event complete_;
  cuda::Event returned_;
  std::deque<cuda::Event> events_;  ///< for messages; as many as have been needed
  std::vector<Message> messages_;
};

}  // namespace stagewise::mpi
