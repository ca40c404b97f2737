/// @file
/// Sums by way of the host's memory: works with every MPI.
#pragma once

#include <deque>
#include <vector>

#include "05_mpi/transport.hpp"
#include "tensor/tensor.hpp"

namespace stagewise::mpi {

/// Copies a bucket to pinned memory on the host, adds it up there by MPI_Allreduce, and copies the
/// sum back.
///
/// The host runs through all of a step's begin() before the device is done with its first kernel,
/// and comes to finish() in time to wait for the first bucket: while it adds up the gradients of
/// the last layer, the device still computes those of the layers below.
template <typename T>
class HostTransport final : public Transport<T> {
 public:
  explicit HostTransport(World& world) : world_(&world) {}

  bool can_be_recorded() const override { return false; }
  void reserve(Index count) override;
  void begin(std::span<const Piece<T>> bucket, const cuda::Stream& stream) override;
  void finish() override;

 private:
  /// On its way.
  struct Bucket {
    std::vector<Piece<T>> pieces;
    const cuda::Stream* stream = nullptr;
    Index first = 0;  ///< its place in the host's memory
    Index count = 0;
  };

  World* world_;
  Tensor<T> host_;  ///< pinned: room for all buckets
  Index begun_ = 0;
  std::deque<cuda::Event> arrived_;  ///< each bucket's: it is in the host's memory
  std::vector<Bucket> buckets_;
};

}  // namespace stagewise::mpi
