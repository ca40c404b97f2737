/// @file
/// Average pooling and its gradient. See PoolingProblem for the shapes.
#pragma once

#include "network/problems.hpp"

namespace stagewise::serial {

/// The mean of every window of window x window pixels, windows side by side.
template <typename T>
void average_pool(const PoolingProblem& problem, const T* input, T* output);

/// The gradient of average_pool(): each pixel gets its window's share.
template <typename T>
void average_pool_backward(const PoolingProblem& problem, const T* doutput, T* dinput);

}  // namespace stagewise::serial
