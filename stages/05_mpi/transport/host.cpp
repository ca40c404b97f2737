#include "05_mpi/transport/host.hpp"

#include "cuda/check.hpp"
#include "cuda/memory.hpp"

namespace stagewise::mpi {

template <typename T>
HostTransport<T>::HostTransport(World& world, const cuda::Stream& stream, Index most, bool overlaps)
    : world_(&world), stream_(&stream), overlaps_(overlaps), host_({most}, cuda::pinned_memory()) {}

//! [begin]
template <typename T>
void HostTransport<T>::begin(std::span<const Piece<T>> message) {
  Message next{.pieces = {message.begin(), message.end()}};
  if (!messages_.empty()) next.first = messages_.back().first + messages_.back().count;
  for (const Piece<T>& piece : message) next.count += piece.count;
  if (overlaps_) {
    complete_.record(*stream_);
    complete_.make_wait(way_out_);
    copy_out(next, way_out_);
    next.arrived = &event(messages_.size());
    next.arrived->record(way_out_);
  }
  messages_.push_back(std::move(next));
}
//! [begin]

//! [finish]
template <typename T>
void HostTransport<T>::finish() {
  if (messages_.empty()) return;
  if (overlaps_) {
    for (const Message& message : messages_) {
      message.arrived->synchronize();
      all_reduce(*world_, host_.data() + message.first, message.count);
      copy_in(message, way_back_);
    }
    returned_.record(way_back_);
    returned_.make_wait(*stream_);
  } else {
    finish_together();
  }
  messages_.clear();
}
//! [finish]

template <typename T>
void HostTransport<T>::finish_together() {
  for (const Message& message : messages_) copy_out(message, *stream_);
  stream_->synchronize();
  all_reduce(*world_, host_.data(), messages_.back().first + messages_.back().count);
  for (const Message& message : messages_) copy_in(message, *stream_);
}

template <typename T>
void HostTransport<T>::copy_out(const Message& message, const cuda::Stream& stream) {
  T* to = host_.data() + message.first;
  for (const Piece<T>& piece : message.pieces) {
    CUDA_CHECK(cudaMemcpyAsync(to, piece.values, static_cast<std::size_t>(piece.count) * sizeof(T),
                               cudaMemcpyDeviceToHost, stream.get()));
    to += piece.count;
  }
}

template <typename T>
void HostTransport<T>::copy_in(const Message& message, const cuda::Stream& stream) {
  const T* from = host_.data() + message.first;
  for (const Piece<T>& piece : message.pieces) {
    CUDA_CHECK(cudaMemcpyAsync(piece.values, from,
                               static_cast<std::size_t>(piece.count) * sizeof(T),
                               cudaMemcpyHostToDevice, stream.get()));
    from += piece.count;
  }
}

template <typename T>
const cuda::Event& HostTransport<T>::event(std::size_t number) {
  while (events_.size() <= number) events_.emplace_back();
  return events_[number];
}

template class HostTransport<float>;
template class HostTransport<double>;

}  // namespace stagewise::mpi
