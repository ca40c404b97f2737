/// @file
/// The losses, a warp a row.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "tensor/shape.hpp"

namespace stagewise::shared_memory {

/// As serial::softmax_cross_entropy().
template <typename T>
void softmax_cross_entropy(cudaStream_t stream, Index rows, Index cols, const T* logits,
                           const std::int32_t* labels, T* probabilities, T* row_losses);

/// As serial::squared_error().
template <typename T>
void squared_error(cudaStream_t stream, Index rows, Index cols, const T* outputs,
                   const std::int32_t* labels, T* row_losses);

}  // namespace stagewise::shared_memory
