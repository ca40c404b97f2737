/// @file
/// Stage 04's ways to answer batches, which `evaluate --latency` measures.
#pragma once

#include <memory>
#include <vector>

#include "04_minibatch/minibatch_executor.hpp"
#include "latency/persistent_prediction.hpp"
#include "latency/recorded_prediction.hpp"
#include "latency/resident_prediction.hpp"
#include "latency/streamed_prediction.hpp"

namespace stagewise::minibatch {

/// Those that work for this network, in the order in which to measure them.
/// @param network its executor must be a MinibatchExecutor.
template <typename T>
std::vector<std::unique_ptr<Predictor<T>>> make_predictors(Network<T>& network) {
  std::vector<std::unique_ptr<Predictor<T>>> predictors;
  const cuda::Stream& stream = static_cast<MinibatchExecutor<T>&>(*network.executor).main_stream();
  predictors.push_back(std::make_unique<RecordedPrediction<T>>(network, stream));
  predictors.push_back(std::make_unique<StreamedPrediction<T>>(network, stream));
  predictors.push_back(std::make_unique<ResidentPrediction<T>>(network, stream));
  // Last: while its kernel runs, nothing must wait for the whole GPU.
  if (auto persistent = make_persistent_prediction(network)) {
    predictors.push_back(std::move(persistent));
  }
  return predictors;
}

}  // namespace stagewise::minibatch
