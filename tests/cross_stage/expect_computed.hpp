/// @file
/// Compares what a kernel computes, and says how many elements differ, where, and whether the order
/// of the threads matters.
#pragma once

#include <cmath>
#include <functional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cuda/counters.hpp"
#include "verify/differences.hpp"

namespace stagewise {

/// Whether a number may stand for the expected one: within `bound`, but a NaN or an infinity must
/// be the same.
inline bool stands_for(double actual, double expected, double bound) {
  if (std::isnan(expected)) return std::isnan(actual);
  return actual == expected || is_near(actual, expected, bound);
}

/// Fails unless each element may stand for the expected one.
/// @param again computes `actual` once more; empty: nothing is said about the order of the threads.
template <typename T>
void expect_computed(const std::string& what, const std::vector<T>& actual, const std::vector<T>& expected,
                     const ResultLayout& layout, double bound, const std::function<std::vector<T>()>& again = {}) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  const auto differences_of = [&](const std::vector<T>& found) {
    return describe_differences(std::span<const T>(found), std::span<const T>(expected), layout,
                                [&](double value, double wanted) { return stands_for(value, wanted, bound); });
  };
  const std::string differences = differences_of(actual);
  if (differences.empty()) return;
  std::string order;
  if (again) {
    order = ". " + cuda::explain_order([&] { return differences_of(again()) == differences; });
  }
  std::ostringstream short_bound;  // GoogleTest would write 17 digits
  short_bound << bound;
  FAIL() << what << " differs by more than " << short_bound.str() << ": " << differences << order;
}

}  // namespace stagewise
