/// @file
/// The two losses and the epoch's totals.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "network/problems.hpp"

namespace stagewise::naive_cuda {

/// probabilities = softmax(logits), row_losses[i] = -log probabilities[i, labels[i]].
template <typename T>
void softmax_cross_entropy(cudaStream_t stream, Index rows, Index cols, const T* logits,
                           const std::int32_t* labels, T* probabilities, T* row_losses);

/// dlogits = (probabilities - onehot(labels)) / batch_rows.
/// @param batch_rows rows of the whole batch, of which these rows may be a part.
template <typename T>
void softmax_cross_entropy_backward(cudaStream_t stream, Index rows, Index cols, Index batch_rows,
                                    const T* probabilities, const std::int32_t* labels, T* dlogits);

/// row_losses[i] = sum over j of (target[i, j] - outputs[i, j])^2.
template <typename T>
void squared_error(cudaStream_t stream, Index rows, Index cols, const T* outputs,
                   const std::int32_t* labels, T* row_losses);

/// doutputs = 2 (outputs - target) / batch_rows.
template <typename T>
void squared_error_backward(cudaStream_t stream, Index rows, Index cols, Index batch_rows,
                            const T* outputs, const std::int32_t* labels, T* doutputs);

/// Adds a batch's losses and correct predictions to the epoch's totals.
template <typename T>
void accumulate(cudaStream_t stream, Index rows, std::int64_t step, const T* row_losses,
                const std::int32_t* predictions, const std::int32_t* labels, Totals* totals);

}  // namespace stagewise::naive_cuda
