/// @file
/// Batches that are copied to the device while it computes with the previous one.
#pragma once

#include <array>
#include <span>

#include "cuda/handles.hpp"
#include "data/dataset.hpp"
#include "tensor/tensor.hpp"

namespace stagewise::minibatch {

/// Copies batches to the device from a data set that stays in host memory. Stage 02 copies a batch
/// and waits, and the device is idle meanwhile. This class has everything twice: two buffers of
/// pinned memory on the host, two buffers on the device, and a stream for the copies in addition to
/// the one for the kernels. While the device computes with one batch, the host gathers the next and
/// the bus transfers it (report 001's second optimization).
template <typename T>
class StreamedBatches {
 public:
  /// @param sample the shape of a sample.
  /// @param stream the one in which the batches are used; must outlive this.
  /// @throws Error if there is too little memory.
  StreamedBatches(const Shape& sample, Index max_rows, const cuda::Stream& stream);
  ~StreamedBatches();
  StreamedBatches(const StreamedBatches&) = delete;
  StreamedBatches& operator=(const StreamedBatches&) = delete;

  /// Copies a batch to one of the two buffers on the device, alternately, and makes the stream wait
  /// for it. Work enqueued earlier may still use the other buffer.
  /// @return which buffer: 0 or 1.
  int bring(const Dataset& dataset, std::span<const std::uint32_t> samples);

  /// Where bring() has put the features, in device memory.
  T* features(int place) { return places_[static_cast<std::size_t>(place)].features.data(); }

  /// Where bring() has put the labels.
  std::int32_t* labels(int place) { return places_[static_cast<std::size_t>(place)].labels.data(); }

 private:
  /// One of the two buffers, on the host and on the device.
  struct Place {
    Tensor<T> host_features;
    Tensor<std::int32_t> host_labels;
    Tensor<T> features;
    Tensor<std::int32_t> labels;
    cuda::Event arrived;  ///< in the copies' stream: the batch is on the device
    cuda::Event used;     ///< in the stream: the batch is no longer needed
  };

  const cuda::Stream* stream_;
  cuda::Stream copies_;
  std::array<Place, 2> places_;
  int next_ = 0;
};

}  // namespace stagewise::minibatch
