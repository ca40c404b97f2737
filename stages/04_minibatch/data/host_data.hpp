/// @file
/// A data set that stays in the host's memory, where kernels read it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <variant>

#include "cuda/handles.hpp"
#include "data/dataset.hpp"
#include "tensor/tensor.hpp"

namespace stagewise::minibatch {

/// The samples of a data set in pinned memory, in the form in which the data set has them: images
/// as bytes, a quarter of what the floats take that they become. Kernels can follow pointers into
/// pinned memory; each load then crosses the bus (**zero copy**). So the device picks a batch's
/// rows itself, as it does from its own memory, and the host has nothing to do.
///
/// There are two batches on the device, and a stream for the kernels that bring them, in addition
/// to the one for the steps: while a step computes with one batch, the next arrives (report 001's
/// second optimization).
template <typename T>
class HostData {
 public:
  /// Copies samples of a data set within the host's memory, and their labels to the device.
  /// @param order which: the first of these is sample 0 here, and so on.
  /// @param max_rows the largest number of samples in a batch.
  /// @param stream the one in which the batches are used; must outlive this.
  /// @throws Error if there is too little memory.
  HostData(const Dataset& dataset, std::span<const std::uint32_t> order, Index max_rows,
           const cuda::Stream& stream);

  ~HostData();
  HostData(const HostData&) = delete;
  HostData& operator=(const HostData&) = delete;

  /// Where a batch has arrived, in device memory.
  struct Batch {
    T* features;
    std::int32_t* labels;
  };

  /// Enqueues the arrival of a batch, for which the stream waits. The work with the batch before
  /// must have been enqueued by then.
  /// @param step counts the batches, from 0 or any even number on.
  /// @param samples which samples are the batch, in device or pinned memory.
  /// @param rows samples in it.
  Batch bring(Index step, const std::uint32_t* samples, Index rows);

  /// Enqueues some steps, and the arrival of their batches.
  /// @param samples which samples are the batches, one after another, in device memory: written by
  ///        what is in the stream before.
  /// @param compute enqueues a step in the stream: called with its number and its batch.
  template <typename Compute>
  void for_each_batch(const std::uint32_t* samples, Index rows, Index steps,
                      const Compute& compute);

  /// Enqueues the arrival of a batch in the stream itself, for when there is nothing to do
  /// meanwhile.
  Batch fetch_in_order(const std::uint32_t* samples, Index rows);

 private:
  struct Slot {
    Tensor<T> features;
    Tensor<std::int32_t> labels;
    cuda::Event arrived;  ///< in arrivals_: the batch is here
    cuda::Event used;     ///< in the stream: the batch is no longer needed
  };

  void fetch(cudaStream_t stream, const std::uint32_t* samples, Index rows, Slot& slot);
  Slot& slot_of(Index step) { return slots_[static_cast<std::size_t>(step % 2)]; }

  const cuda::Stream* stream_;
  cuda::Stream arrivals_;
  cuda::Event begun_;
  Index width_;                                                  ///< features per sample
  Index stride_ = 0;                                             ///< from a sample to the next
  std::variant<Tensor<std::uint8_t>, Tensor<double>> features_;  ///< in pinned memory
  Tensor<std::int32_t> labels_;
  std::array<Slot, 2> slots_;
};

template <typename T>
template <typename Compute>
void HostData<T>::for_each_batch(const std::uint32_t* samples, Index rows, Index steps,
                                 const Compute& compute) {
  begun_.record(*stream_);
  begun_.make_wait(arrivals_);
  for (Index step = 0; step < steps; ++step) {
    compute(step, bring(step, samples + step * rows, rows));
  }
}

}  // namespace stagewise::minibatch
