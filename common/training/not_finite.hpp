/// @file
/// Why a number has become NaN or infinite, as far as that is known.
#pragma once

#include <cstdint>
#include <string>

#include "tensor/error.hpp"
#include "training/bounds.hpp"

namespace stagewise {

/// A training or an evaluation came upon a number that is not finite.
class NotFinite : public Error {
 public:
  /// @param may_be_a_kernel whether an operation that computes wrong numbers may be the cause.
  NotFinite(const std::string& sentence, bool may_be_a_kernel)
      : Error(sentence), may_be_a_kernel_(may_be_a_kernel) {}

  /// Whether data, parameters and options leave room for that cause.
  bool may_be_a_kernel() const { return may_be_a_kernel_; }

 private:
  bool may_be_a_kernel_;
};

/// What led to a number that is not finite.
struct Course {
  Bounds bounds;       ///< at a step where all parameters were finite
  std::int64_t steps;  ///< that have been taken since
  bool has_trained;    ///< whether there were steps before
  Index batch_size;
  Sgd sgd;
};

/// The error to throw.
/// @param what "the loss became NaN in epoch 1, step 2".
template <typename T>
NotFinite explained(const std::string& what, const Course& course);

/// The same of an evaluation.
/// @param bounds on what the network computes from the data.
template <typename T>
NotFinite explained_evaluation(const std::string& what, const Bounds& bounds, Index batch_size);

}  // namespace stagewise
