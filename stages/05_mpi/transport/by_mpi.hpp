/// @file
/// Sums by MPI, which the host calls: in its own memory, or in the device's.
#pragma once

#include <vector>

#include "05_mpi/transport.hpp"
#include "cuda/check.hpp"
#include "cuda/memory.hpp"
#include "tensor/tensor.hpp"

namespace stagewise::mpi {

/// What both have in common: MPI knows nothing of streams, so the host waits until a bucket is
/// complete before it calls MPI.
template <typename T>
class MpiTransport : public Transport<T> {
 public:
  /// @param world must outlive this.
  explicit MpiTransport(Communicator& world) : world_(&world) {}

  bool can_be_recorded() const override { return false; }

  //! [begin]
  void begin(std::span<const Piece<T>> pieces, const cuda::Stream& stream) override {
    if (begun_ == buckets_.size()) buckets_.emplace_back();
    Bucket& bucket = buckets_[begun_++];
    bucket.pieces.assign(pieces.begin(), pieces.end());
    bucket.stream = &stream;
    bucket.first = numbers_;
    for (const Piece<T>& piece : pieces) numbers_ += piece.count;
    bucket.count = numbers_ - bucket.first;
    prepare(bucket);
    bucket.complete.record(stream);
  }
  //! [begin]

  //! [finish]
  void finish() override {
    for (std::size_t i = 0; i < begun_; ++i) {
      buckets_[i].complete.synchronize();
      add_up(buckets_[i]);
    }
    begun_ = 0;
    numbers_ = 0;
  }
  //! [finish]

 protected:
  /// A bucket that has begun.
  struct Bucket {
    std::vector<Piece<T>> pieces;
    const cuda::Stream* stream = nullptr;
    Index first = 0;  ///< its place among the numbers of all
    Index count = 0;
    cuda::Event complete;
  };

  /// Enqueues what must be done before.
  virtual void prepare(const Bucket& /*bucket*/) {}

  /// Adds up, when all before it is done; the sums are complete when the stream is.
  virtual void add_up(const Bucket& bucket) = 0;

  /// The ranks that add up.
  Communicator& world() { return *world_; }

 private:
  Communicator* world_;
  std::vector<Bucket> buckets_;  ///< with those of earlier steps, whose memory is used again
  std::size_t begun_ = 0;
  Index numbers_ = 0;  ///< of the buckets that have begun
};

/// Copies a bucket to pinned memory on the host, adds it up there with MPI_Allreduce, and copies
/// the sum back: works with every MPI.
///
/// The host makes all of a step's calls of begin() before the device has finished its first kernel,
/// and reaches finish() in time to wait for the first bucket: while it adds up the gradients of the
/// last layer, the device is still computing those of the layers below.
template <typename T>
class HostTransport final : public MpiTransport<T> {
 public:
  using MpiTransport<T>::MpiTransport;

  void reserve(Index count) override {
    if (host_.elements() < count) host_ = Tensor<T>({count}, cuda::pinned_memory());
  }

 private:
  using Bucket = typename MpiTransport<T>::Bucket;

  //! [host]
  void prepare(const Bucket& bucket) override {
    T* to = host_.data() + bucket.first;
    for (const Piece<T>& piece : bucket.pieces) {
      copy(to, piece.values, piece.count, *bucket.stream);
      to += piece.count;
    }
  }

  void add_up(const Bucket& bucket) override {
    T* sum = host_.data() + bucket.first;
    this->world().all_reduce(sum, bucket.count);
    for (const Piece<T>& piece : bucket.pieces) {
      copy(piece.values, sum, piece.count, *bucket.stream);
      sum += piece.count;
    }
  }
  //! [host]

  static void copy(T* to, const T* from, Index count, const cuda::Stream& stream) {
    CUDA_CHECK(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(T),
                               cudaMemcpyDefault, stream.get()));
  }

  Tensor<T> host_;  ///< pinned: room for all buckets
};

/// Passes device pointers to MPI, which decides how the numbers get from GPU to GPU: over NVLink,
/// by the network card, or through the host after all.
template <typename T>
class CudaAwareTransport final : public MpiTransport<T> {
 public:
  using MpiTransport<T>::MpiTransport;

 private:
  //! [cuda_aware]
  void add_up(const typename MpiTransport<T>::Bucket& bucket) override {
    for (const Piece<T>& piece : bucket.pieces) this->world().all_reduce(piece.values, piece.count);
  }
  //! [cuda_aware]
};

}  // namespace stagewise::mpi
