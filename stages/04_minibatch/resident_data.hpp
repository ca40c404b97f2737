/// @file
/// A data set that is entirely on the device.
#pragma once

#include <span>

#include "04_minibatch/gather.hpp"
#include "data/dataset.hpp"
#include "tensor/tensor.hpp"

namespace stagewise {

/// The order of an epoch's samples, in device memory.
class EpochOrder {
 public:
  /// @param chunk_samples the largest number of samples that chunk() has room for.
  /// @throws Error if the GPU has too little memory.
  EpochOrder(Index samples, Index chunk_samples);

  /// How much memory this takes.
  static std::size_t bytes(Index samples, Index chunk_samples);

  /// Copies the order of a new epoch; waits until it has arrived.
  void begin_epoch(cudaStream_t stream, std::span<const std::uint32_t> order);

  /// In device memory: the order of the epoch.
  std::uint32_t* order() { return order_.data(); }

  /// In device memory: room for the samples of the next steps, as take_chunk() copies them.
  std::uint32_t* chunk() { return chunk_.data(); }

 private:
  Tensor<std::uint32_t> order_;
  Tensor<std::uint32_t> chunk_;
};

/// The samples and labels of a data set, in device memory.
template <typename T>
class ResidentData {
 public:
  /// Copies the data set.
  /// @throws Error if the GPU has too little memory.
  explicit ResidentData(const Dataset& dataset);

  /// Replaces the data set with another of the same size; waits until it has arrived.
  void load(const Dataset& dataset);

  /// How much memory this takes.
  static std::size_t bytes(const Dataset& dataset);

  /// In device memory: [samples, features].
  T* features() { return features_.data(); }

  /// In device memory: [samples].
  std::int32_t* labels() { return labels_.data(); }

 private:
  Index width_;  ///< features per sample
  Tensor<T> features_;
  Tensor<std::int32_t> labels_;
};

}  // namespace stagewise
