/// @file
/// Batches that are on their way while the one before is computed with.
#pragma once

#include <array>

#include "04_minibatch/minibatch_backend.hpp"
#include "training/step.hpp"

namespace stagewise {

/// Brings batches of a data set that stays in the host's memory. A PlainFeeder copies a batch and
/// waits; the device waits meanwhile. This one has everything twice: two buffers of pinned memory
/// on the host, two on the device, and a stream for the copies beside the one for the kernels.
/// While the device computes with one batch, the host gathers the next and the bus carries it
/// (report 001's second optimization).
template <typename T>
class StreamedFeeder final : public Feeder<T> {
 public:
  /// @param network its backend is `backend`. All must outlive the feeder.
  StreamedFeeder(Network<T>& network, MinibatchBackend<T>& backend, const Dataset& dataset);

  /// Gives the network its own input and labels back.
  ~StreamedFeeder() override;
  StreamedFeeder(const StreamedFeeder&) = delete;
  StreamedFeeder& operator=(const StreamedFeeder&) = delete;

  void feed(std::span<const std::uint32_t> samples) override;

  /// Brings a batch to one of the two places on the device, in turns, and makes the backend's
  /// stream wait for it. What was enqueued there before may still use the place before.
  /// @return which place: 0 or 1.
  int bring(std::span<const std::uint32_t> samples);

  /// Where bring() has put the features, in the device's memory.
  T* features(int place) { return places_[static_cast<std::size_t>(place)].features.data(); }

  /// Where bring() has put the labels.
  std::int32_t* labels(int place) { return places_[static_cast<std::size_t>(place)].labels.data(); }

 private:
  /// One of the two places, on the host and on the device.
  struct Place {
    Tensor<T> host_features;
    Labels host_labels;
    Tensor<T> features;
    Labels labels;
    cuda::Event arrived;  ///< in the copies' stream: the batch is on the device
    cuda::Event used;     ///< in the backend's stream: nobody needs it any more
  };

  void give_back_labels();

  Network<T>* network_;
  MinibatchBackend<T>* backend_;
  const Dataset* dataset_;
  cuda::Stream copies_;
  std::array<Place, 2> places_;
  int next_ = 0;
  int lent_ = -1;  ///< whose labels are the network's at the moment; -1: its own are
};

extern template class StreamedFeeder<float>;
extern template class StreamedFeeder<double>;

}  // namespace stagewise
