/// @file
/// Further ways to answer batches.
#pragma once

#include <memory>
#include <vector>

#include "04_minibatch/recorded_prediction.hpp"
#include "ladders/persistent/latency/persistent_prediction.hpp"
#include "ladders/persistent/latency/resident_prediction.hpp"
#include "ladders/persistent/latency/streamed_prediction.hpp"

namespace stagewise::minibatch {

/// Those that work for this network, in the order in which to measure them: stage 04's, and the
/// ones of this folder.
/// @param network its executor must be a MinibatchExecutor.
template <typename T>
std::vector<std::unique_ptr<Predictor<T>>> make_all_predictors(Network<T>& network) {
  std::vector<std::unique_ptr<Predictor<T>>> predictors = make_predictors(network);
  const cuda::Stream& stream = static_cast<MinibatchExecutor<T>&>(*network.executor).main_stream();
  predictors.push_back(std::make_unique<StreamedPrediction<T>>(network, stream));
  predictors.push_back(std::make_unique<ResidentPrediction<T>>(network, stream));
  // Last: while its kernel runs, nothing must wait for the whole GPU.
  if (auto persistent = make_persistent_prediction(network)) {
    predictors.push_back(std::move(persistent));
  }
  return predictors;
}

}  // namespace stagewise::minibatch
