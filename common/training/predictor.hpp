/// @file
/// A way to answer batches, one at a time: what `evaluate --latency` measures.
#pragma once

#include <cstdint>
#include <string>

#include "tensor/shape.hpp"

namespace stagewise {

/// A way to answer batches of one fixed size, one at a time.
template <typename T>
class Predictor {
 public:
  Predictor() = default;
  virtual ~Predictor() = default;
  Predictor(const Predictor&) = delete;
  Predictor& operator=(const Predictor&) = delete;

  /// What tables and reports call it: "eager".
  virtual std::string name() const = 0;

  /// Samples in a batch: neither more nor fewer.
  virtual Index rows() const = 0;

  /// Where the next batch goes, in the host's memory: the features of rows() samples, one after
  /// another.
  virtual T* features() = 0;

  /// Answers the batch in features(): the class of each of its samples, there on return.
  virtual void predict(std::int32_t* classes) = 0;
};

}  // namespace stagewise
