#include "05_mpi/transport/host.hpp"

#include "cuda/check.hpp"
#include "cuda/memory.hpp"

namespace stagewise::mpi {
namespace {

template <typename T>
void copy(T* to, const T* from, Index count, const cuda::Stream& stream) {
  CUDA_CHECK(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(T),
                             cudaMemcpyDefault, stream.get()));
}

}  // namespace

template <typename T>
void HostTransport<T>::reserve(Index count) {
  if (host_.elements() < count) host_ = Tensor<T>({count}, cuda::pinned_memory());
}

//! [begin]
template <typename T>
void HostTransport<T>::begin(std::span<const Piece<T>> bucket, const cuda::Stream& stream) {
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
template <typename T>
void HostTransport<T>::finish() {
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

template class HostTransport<float>;
template class HostTransport<double>;

}  // namespace stagewise::mpi
