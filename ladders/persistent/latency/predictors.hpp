/// @file
/// Further ways to answer batches.
#pragma once

#include <memory>
#include <vector>

#include "training/network.hpp"
#include "training/predictor.hpp"

namespace stagewise::minibatch {

/// Those that work for this network, in the order in which to measure them: stage 04's, and the
/// ones of this folder.
/// @param network its executor must be a MinibatchExecutor.
template <typename T>
std::vector<std::unique_ptr<Predictor<T>>> make_all_predictors(Network<T>& network);

}  // namespace stagewise::minibatch
