/// @file
/// Why a number has become NaN or infinite, as far as is known.
#pragma once

#include <cstdint>
#include <string>

#include "tensor/error.hpp"
#include "training/bounds.hpp"

namespace stagewise {

/// Training or evaluation produced a number that is not finite.
class NotFinite : public Error {
 public:
  /// @param may_be_a_kernel whether an operation that computes wrong numbers may be the cause.
  NotFinite(const std::string& sentence, bool may_be_a_kernel)
      : Error(sentence), may_be_a_kernel_(may_be_a_kernel) {}

  /// Whether data, parameters and options allow for that cause.
  bool may_be_a_kernel() const { return may_be_a_kernel_; }

 private:
  bool may_be_a_kernel_;
};

/// The circumstances of a number that is not finite.
struct Course {
  Bounds bounds;       ///< at a step where all parameters were finite
  std::int64_t steps;  ///< steps taken since then
  bool has_trained;    ///< whether there were steps before it
  Index batch_size;
  Sgd sgd;
};

/// The error to throw.
/// @param what "the loss became NaN in epoch 1, step 2".
template <typename T>
NotFinite explained(const std::string& what, const Course& course);

/// The same for an evaluation.
/// @param bounds on what the network computes from the data.
template <typename T>
NotFinite explained_evaluation(const std::string& what, const Bounds& bounds, Index batch_size);

}  // namespace stagewise
