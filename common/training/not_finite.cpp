#include "training/not_finite.hpp"

#include "tensor/counts.hpp"

namespace stagewise {
namespace {

std::string inputs_of(const Bounds& bounds) {
  return "inputs up to " + rounded(bounds.largest_input());
}

std::string parameters_of(const Bounds& bounds) {
  return "parameters up to " + rounded(bounds.largest_parameter());
}

/// What is left where numbers were too small to become infinite.
std::string wrong_operation(const Bounds& bounds) {
  return "; from " + inputs_of(bounds) + " and " + parameters_of(bounds) +
         " nothing can grow so large by then: an operation computes wrong numbers";
}

/// Whether all numbers are certain to be within the precision, those after so many steps, too.
template <typename T>
bool stays_within(Bounds bounds, std::int64_t steps, Index batch_size, const Sgd& sgd) {
  for (std::int64_t step = 0; bounds.can_hold<T>(batch_size); ++step) {
    if (step == steps) return true;
    bounds.take_step(sgd);
  }
  return false;
}

}  // namespace

//! [explained]
template <typename T>
NotFinite explained(const std::string& what, const Course& course) {
  const std::string stopped = what + ", and training stopped";
  const Bounds& bounds = course.bounds;
  const Sgd& sgd = course.sgd;
  if (stays_within<T>(bounds, course.steps, course.batch_size, sgd)) {
    return {stopped + wrong_operation(bounds), true};
  }
  if (course.steps == 0 && !course.has_trained) {
    return {stopped +
                "; that was before the first update, so the learning rate is not the cause, "
                "but " +
                inputs_of(bounds) + " or " + parameters_of(bounds) + " may be",
            true};
  }
  // The update multiplies each weight by 1 - learning_rate l2.
  if (sgd.rule == Rule::sgd && sgd.learning_rate * sgd.l2 > 2) {
    return {stopped + "; the learning rate " + rounded(sgd.learning_rate) + " times the l2 of " +
                rounded(sgd.l2) + " is " + rounded(sgd.learning_rate * sgd.l2) +
                ", and above 2 every step makes the weights larger",
            false};
  }
  constexpr double well_scaled = 1000;
  const std::string scaling =
      bounds.largest_input() > well_scaled ? inputs_of(bounds) + " should be scaled, or " : "";
  return {stopped + "; " + scaling + "a learning rate smaller than " + rounded(sgd.learning_rate) +
              " may help",
          true};
}
//! [explained]

template <typename T>
NotFinite explained_evaluation(const std::string& what, const Bounds& bounds, Index batch_size) {
  if (bounds.can_hold<T>(batch_size)) return {what + wrong_operation(bounds), true};
  return {what + "; " + inputs_of(bounds) + " or " + parameters_of(bounds) + " may be too large",
          true};
}

template NotFinite explained<float>(const std::string&, const Course&);
template NotFinite explained<double>(const std::string&, const Course&);
template NotFinite explained_evaluation<float>(const std::string&, const Bounds&, Index);
template NotFinite explained_evaluation<double>(const std::string&, const Bounds&, Index);

}  // namespace stagewise
