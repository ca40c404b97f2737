/// @file
/// A way to predict batches, one at a time: what `evaluate --latency` measures.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "data/dataset.hpp"
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
  /// another. Null if it takes batches of data sets only.
  virtual T* features() = 0;

  /// Takes the next batch: rows() samples of a data set, which must outlive its prediction.
  virtual void take(const Dataset& dataset, std::span<const std::uint32_t> samples) {
    dataset.gather(samples, features());
  }

  /// Whether it measures the device alone: taking a batch does not count, and classes stay on the
  /// device unless they are asked for.
  virtual bool is_on_device() const { return false; }

  /// Predicts the batch: the class of each of its samples, complete on return.
  /// @param classes may be null if is_on_device().
  virtual void predict(std::int32_t* classes) = 0;
};

}  // namespace stagewise
