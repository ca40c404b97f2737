#include <deque>
#include <vector>

#include "05_mpi/transport.hpp"
#include "cuda/check.hpp"
#include "cuda/memory.hpp"
#include "tensor/tensor.hpp"

namespace stagewise::mpi {
namespace {

template <typename T>
void copy(T* to, const T* from, Index count, const cuda::Stream& stream) {
  CUDA_CHECK(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(T),
                             cudaMemcpyDefault, stream.get()));
}

/// Copies a bucket to pinned memory on the host, adds it up there with MPI_Allreduce, and copies
/// the sum back.
///
/// The host makes all of a step's calls of begin() before the device has finished its first kernel,
/// and reaches finish() in time to wait for the first bucket: while it adds up the gradients of the
/// last layer, the device is still computing those of the layers below.
template <typename T>
class HostTransport final : public Transport<T> {
 public:
  explicit HostTransport(Communicator& world) : world_(&world) {}

  bool can_be_recorded() const override { return false; }

  void reserve(Index count) override {
    if (host_.elements() < count) host_ = Tensor<T>({count}, cuda::pinned_memory());
  }

  //! [begin]
  void begin(std::span<const Piece<T>> bucket, const cuda::Stream& stream) override {
    Bucket next{.pieces = {bucket.begin(), bucket.end()}, .stream = &stream, .first = begun_};
    for (const Piece<T>& piece : bucket) {
      copy(host_.data() + begun_, piece.values, piece.count, stream);
      begun_ += piece.count;
      next.count += piece.count;
    }
    while (arrived_.size() <= buckets_.size()) arrived_.emplace_back();
    arrived_[buckets_.size()].record(stream);
    buckets_.push_back(std::move(next));
  }
  //! [begin]

  //! [finish]
  void finish() override {
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      const Bucket& bucket = buckets_[i];
      arrived_[i].synchronize();
      T* sum = host_.data() + bucket.first;
      all_reduce(*world_, sum, bucket.count);
      for (const Piece<T>& piece : bucket.pieces) {
        copy(piece.values, sum, piece.count, *bucket.stream);
        sum += piece.count;
      }
    }
    buckets_.clear();
    begun_ = 0;
  }
  //! [finish]

 private:
  /// A bucket in transit.
  struct Bucket {
    std::vector<Piece<T>> pieces;
    const cuda::Stream* stream = nullptr;
    Index first = 0;  ///< its place in the host's memory
    Index count = 0;
  };

  Communicator* world_;
  Tensor<T> host_;  ///< pinned: room for all buckets
  Index begun_ = 0;
  std::deque<cuda::Event> arrived_;  ///< each bucket's: it is in the host's memory
  std::vector<Bucket> buckets_;
};

}  // namespace

template <typename T>
std::unique_ptr<Transport<T>> make_host_transport(Communicator& world) {
  return std::make_unique<HostTransport<T>>(world);
}

template std::unique_ptr<Transport<float>> make_host_transport(Communicator&);
template std::unique_ptr<Transport<double>> make_host_transport(Communicator&);

}  // namespace stagewise::mpi
