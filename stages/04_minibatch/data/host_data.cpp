#include "04_minibatch/data/host_data.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "04_minibatch/data/gather.hpp"
#include "cuda/check.hpp"
#include "cuda/memory.hpp"

namespace stagewise::minibatch {
namespace {

//! [stride]
/// How far apart samples of so many features are. A warp's load crosses the bus in requests for
/// lines of 128 bytes: one request if the sample begins at a line, else two. So samples begin at
/// lines, unless that would take much more memory.
Index stride_of(Index features, Index bytes) {
  const Index line = 128 / bytes;
  const Index padded = (features + line - 1) / line * line;
  return padded - features <= features / 4 ? padded : features;
}
//! [stride]

}  // namespace

template <typename T>
HostData<T>::HostData(const Dataset& dataset, std::span<const std::uint32_t> order, Index max_rows,
                      const cuda::Stream& stream)
    : stream_(&stream),
      width_(dataset.sample_shape().elements()),
      labels_({std::ssize(order)}, cuda::device_memory()) {
  for (Slot& slot : slots_) {
    slot.features = Tensor<T>(dataset.sample_shape().batched(max_rows), cuda::device_memory());
    slot.labels = Tensor<std::int32_t>({max_rows}, cuda::device_memory());
  }
  const auto copy = [&]<typename Stored>(const std::vector<Stored>& from) {
    stride_ = stride_of(width_, sizeof(Stored));
    Tensor<Stored> rows({std::ssize(order), stride_}, cuda::pinned_memory());
    Stored* to = rows.data();
    for (const std::uint32_t sample : order) {
      std::copy_n(from.begin() + static_cast<Index>(sample) * width_, width_, to);
      to += stride_;
    }
    features_ = std::move(rows);
  };
  dataset.pixels() != nullptr ? copy(*dataset.pixels()) : copy(*dataset.values());
  std::vector<std::int32_t> labels(order.size());
  dataset.gather_labels(order, labels.data());
  CUDA_CHECK(cudaMemcpyAsync(labels_.data(), labels.data(), labels.size() * sizeof(std::int32_t),
                             cudaMemcpyHostToDevice, stream_->get()));
  stream_->synchronize();
}

template <typename T>
HostData<T>::~HostData() {
  cudaStreamSynchronize(arrivals_.get());  // errors have been reported elsewhere
  cudaStreamSynchronize(stream_->get());
}

template <typename T>
void HostData<T>::fetch(cudaStream_t stream, const std::uint32_t* samples, Index rows, Slot& slot) {
  std::visit(
      [&](auto& features) {
        gather_from_host(stream, features.data(), stride_, labels_.data(), width_, samples, rows,
                         slot.features.data(), slot.labels.data());
      },
      features_);
}

//! [bring]
// A batch arrives while the one before is used, but not before the step that used its slot is
// done. Nobody has used the slots of the first two.
template <typename T>
typename HostData<T>::Batch HostData<T>::bring(Index step, const std::uint32_t* samples,
                                               Index rows) {
  Slot& slot = slot_of(step);
  if (step >= 1) slot_of(step - 1).used.record(*stream_);
  if (step >= 2) slot.used.make_wait(arrivals_);
  fetch(arrivals_.get(), samples, rows, slot);
  slot.arrived.record(arrivals_);
  slot.arrived.make_wait(*stream_);
  return {slot.features.data(), slot.labels.data()};
}
//! [bring]

template <typename T>
typename HostData<T>::Batch HostData<T>::fetch_in_order(const std::uint32_t* samples, Index rows) {
  fetch(stream_->get(), samples, rows, slots_[0]);
  return {slots_[0].features.data(), slots_[0].labels.data()};
}

template class HostData<float>;
template class HostData<double>;

}  // namespace stagewise::minibatch
