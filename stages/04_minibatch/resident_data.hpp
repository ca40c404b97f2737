/// @file
/// A data set that is on the device as a whole.
#pragma once

#include <span>

#include "04_minibatch/gather.hpp"
#include "data/dataset.hpp"
#include "tensor/tensor.hpp"

namespace stagewise {

/// Samples and labels of a data set, and an epoch's order of them, in the device's memory.
template <typename T>
class ResidentData {
 public:
  /// Copies the data set.
  /// @param chunk_samples how many samples take_chunk() takes at most.
  /// @throws Error if the GPU has too little memory.
  ResidentData(const Dataset& dataset, Index chunk_samples);

  /// Replaces the data set by another one of the same size; waits until it is there.
  void load(const Dataset& dataset);

  /// How much memory that takes.
  static std::size_t bytes(const Dataset& dataset, Index chunk_samples);

  /// Copies the order of an epoch, which begins; waits until it is there.
  void begin_epoch(cudaStream_t stream, std::span<const std::uint32_t> order);

  /// Enqueues: chunk() are the samples of the next steps, and the cursor moves on.
  void take_chunk(cudaStream_t stream, minibatch::Cursor* cursor, Index steps, Index rows,
                  volatile std::int64_t* progress);

  /// In the device's memory: [samples, features].
  T* features() { return features_.data(); }

  /// Likewise: [samples].
  std::int32_t* labels() { return labels_.data(); }

  /// The samples that take_chunk() has taken, always at the same address.
  std::uint32_t* chunk() { return chunk_.data(); }

 private:
  Index width_;  ///< features of a sample
  Tensor<T> features_;
  Tensor<std::int32_t> labels_;
  Tensor<std::uint32_t> order_;
  Tensor<std::uint32_t> chunk_;
};

}  // namespace stagewise
