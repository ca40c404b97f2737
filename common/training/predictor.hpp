/// @file
/// A way to predict batches, one at a time: what `evaluate --latency` measures.
#pragma once

#include <cstdint>
#include <string>

#include "tensor/shape.hpp"

namespace stagewise {

/// A way to predict batches of one fixed size, one at a time.
template <typename T>
class Predictor {
 public:
  Predictor() = default;
  virtual ~Predictor() = default;
  Predictor(const Predictor&) = delete;
  Predictor& operator=(const Predictor&) = delete;

  /// Its name in tables and reports: "eager".
  virtual std::string name() const = 0;

  /// The exact number of samples in a batch.
  virtual Index rows() const = 0;

  /// The place for the next batch, in host memory: the features of rows() samples, one after
  /// another.
  virtual T* features() = 0;

  /// Predicts the batch in features(): the class of each of its samples, complete on return.
  virtual void predict(std::int32_t* classes) = 0;
};

}  // namespace stagewise
