/// @file
/// Batches, put together by the device.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "network/problems.hpp"

namespace stagewise::minibatch {

/// The current position in an epoch, in device memory, from which recorded launches find their
/// samples.
struct Cursor {
  Index first = 0;              ///< the next sample's place in EpochOrder::orders()
  std::int64_t step = 0;        ///< steps done in this epoch
  std::int64_t chunk_step = 0;  ///< steps done before the chunk that is running
  unsigned blocks_done = 0;     ///< that have copied their part of the chunk
};

/// Copies the samples of the next steps to `chunk`, their rates to `chunk_rates`, and advances the
/// cursor.
/// @param order see Cursor.
/// @param steps the number of steps, of `rows` samples each.
/// @param progress receives, for the host, how many steps were done before; null: not needed.
/// @param rates the epoch's; null: the rate never changes.
void take_chunk(cudaStream_t stream, const std::uint32_t* order, Cursor* cursor, Index steps,
                Index rows, std::uint32_t* chunk, volatile std::int64_t* progress,
                const StepRates* rates = nullptr, StepRates* chunk_rates = nullptr);

/// batch = the selected rows of the data [.., features], and likewise their labels.
template <typename T>
void gather(cudaStream_t stream, const T* data, const std::int32_t* labels, Index features,
            const std::uint32_t* order, Index rows, T* batch, std::int32_t* batch_labels);

/// The same from data in pinned host memory, as a data set has them: bytes, which are divided by
/// 255, or doubles. The labels are on the device.
/// @param stride from a row of the data to the next.
/// @param rows may be 0.
template <typename Stored, typename T>
void gather_from_host(cudaStream_t stream, const Stored* data, Index stride,
                      const std::int32_t* labels, Index features, const std::uint32_t* order,
                      Index rows, T* batch, std::int32_t* batch_labels);

}  // namespace stagewise::minibatch
