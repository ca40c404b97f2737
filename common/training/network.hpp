/// @file
/// A model in an executor's memory.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "network/model.hpp"
#include "tensor/tensor.hpp"
#include "training/executor.hpp"

namespace stagewise {

/// A model, the executor that holds its values, and the programs that every use of a network needs,
/// as the stage executes them.
template <typename T>
struct Network {
  /// @param rewrite the stage's rewrite of a program before executing it; by default, none.
  template <typename Rewrite = std::identity>
  Network(Model its_model, std::unique_ptr<Executor<T>> its_executor, const Rewrite& rewrite = {})
      : model(std::move(its_model)),
        executor(std::move(its_executor)),
        evaluation(rewrite(model.program)),
        prediction(rewrite(model.prediction())) {}

  /// Allocates what evaluation and prediction need.
  void load(Index max_rows, const std::function<void(double)>& on_size = {}) {
    executor->load(evaluation, max_rows, on_size);
    executor->load(prediction, max_rows);
  }

  Model model;
  std::unique_ptr<Executor<T>> executor;
  Program evaluation;  ///< from samples to totals
  Program prediction;  ///< from a given batch to classes
};

}  // namespace stagewise
