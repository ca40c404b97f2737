/// @file
/// A data set that is entirely on the device.
#pragma once

#include <span>

#include "04_minibatch/data/gather.hpp"
#include "cuda/handles.hpp"
#include "data/dataset.hpp"
#include "tensor/tensor.hpp"

namespace stagewise {

/// The order of an epoch's samples, in device memory. There is room for two orders: that of the
/// next epoch can arrive while this one's is read.
class EpochOrder {
 public:
  /// @param chunk_samples the largest number of samples that chunk() has room for.
  /// @throws Error if the GPU has too little memory.
  EpochOrder(Index samples, Index chunk_samples);

  /// How much memory this takes.
  static std::size_t bytes(Index samples, Index chunk_samples);

  ~EpochOrder();  ///< Waits until nothing is copied any more.
  EpochOrder(const EpochOrder&) = delete;
  EpochOrder& operator=(const EpochOrder&) = delete;

  /// Starts to copy the order of the next epoch, with which begin_epoch() is to be called then.
  void prepare_epoch(std::span<const std::uint32_t> order);

  /// Begins an epoch with this order: copies it unless it was prepared, and waits for it.
  void begin_epoch(std::span<const std::uint32_t> order);

  /// In device memory: both orders.
  std::uint32_t* orders() { return orders_.data(); }

  /// Where this epoch's order begins there.
  Index first() const { return first_; }

  /// In device memory: room for the samples of the next steps, as take_chunk() copies them.
  std::uint32_t* chunk() { return chunk_.data(); }

 private:
  Index other() const { return samples_ - first_; }

  Index samples_;
  Tensor<std::uint32_t> orders_;
  Tensor<std::uint32_t> staged_;  ///< in pinned memory: what is copied
  Tensor<std::uint32_t> chunk_;
  cuda::Stream copies_;
  Index first_ = 0;
  std::size_t prepared_ = 0;  ///< samples of the order that is on its way to the other place
};

/// The samples and labels of a data set, in device memory.
template <typename T>
class ResidentData {
 public:
  /// Copies the data set; waits until it has arrived.
  /// @throws Error if the GPU has too little memory.
  explicit ResidentData(const Dataset& dataset);

  /// How much memory this takes.
  static std::size_t bytes(const Dataset& dataset);

  /// In device memory: [samples, features].
  T* features() { return features_.data(); }

  /// In device memory: [samples].
  std::int32_t* labels() { return labels_.data(); }

 private:
  Tensor<T> features_;
  Tensor<std::int32_t> labels_;
};

}  // namespace stagewise
