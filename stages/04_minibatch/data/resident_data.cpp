#include "04_minibatch/data/resident_data.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "cuda/check.hpp"
#include "cuda/handles.hpp"
#include "cuda/memory.hpp"

namespace stagewise {
namespace {

void copy_in(cudaStream_t stream, void* to, const void* from, std::size_t bytes) {
  CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
}

}  // namespace

EpochOrder::EpochOrder(Index samples, Index chunk_samples)
    : samples_(samples),
      orders_({2 * samples}, cuda::device_memory()),
      staged_({samples}, cuda::pinned_memory()),
      chunk_({chunk_samples}, cuda::device_memory()) {}

std::size_t EpochOrder::bytes(Index samples, Index chunk_samples) {
  return static_cast<std::size_t>(2 * samples + chunk_samples) * sizeof(std::uint32_t);
}

EpochOrder::~EpochOrder() {
  cudaStreamSynchronize(copies_.get());  // what fails here was reported elsewhere
}

void EpochOrder::prepare_epoch(std::span<const std::uint32_t> order) {
  copies_.synchronize();  // the one before has left the pinned memory
  std::ranges::copy(order, staged_.data());
  CUDA_CHECK(cudaMemcpyAsync(orders_.data() + other(), staged_.data(), order.size_bytes(),
                             cudaMemcpyHostToDevice, copies_.get()));
  prepared_ = order.size();
}

void EpochOrder::begin_epoch(std::span<const std::uint32_t> order) {
  if (order.size() != prepared_) prepare_epoch(order);
  copies_.synchronize();
  first_ = other();
  prepared_ = 0;
}

template <typename T>
std::size_t ResidentData<T>::bytes(const Dataset& dataset) {
  const auto width = static_cast<std::size_t>(dataset.sample_shape().elements());
  return static_cast<std::size_t>(dataset.size()) * (width * sizeof(T) + sizeof(std::int32_t));
}

template <typename T>
ResidentData<T>::ResidentData(const Dataset& dataset)
    : features_({dataset.size(), dataset.sample_shape().elements()}, cuda::device_memory()),
      labels_({dataset.size()}, cuda::device_memory()) {
  const Index width = dataset.sample_shape().elements();
  // Piece by piece, so that the host needs no second copy of everything.
  constexpr Index piece_elements = Index{1} << 22;
  const Index piece = std::clamp<Index>(piece_elements / width, 1, dataset.size());
  Tensor<T> staging({piece, width}, cuda::pinned_memory());
  std::vector<std::uint32_t> samples(static_cast<std::size_t>(dataset.size()));
  std::iota(samples.begin(), samples.end(), 0U);
  const cuda::Stream stream;
  for (Index first = 0; first < dataset.size(); first += piece) {
    const Index rows = std::min(piece, dataset.size() - first);
    dataset.gather(
        std::span(samples).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(rows)),
        staging.data());
    copy_in(stream.get(), features_.data() + first * width, staging.data(),
            static_cast<std::size_t>(rows * width) * sizeof(T));
  }
  copy_in(stream.get(), labels_.data(), dataset.labels().data(),
          dataset.labels().size() * sizeof(std::int32_t));
}

template class ResidentData<float>;
template class ResidentData<double>;

}  // namespace stagewise
