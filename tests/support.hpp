/// @file
/// What several test programs need: random data, poisoned outputs, comparisons with a reference,
/// sentences of errors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "tensor/error.hpp"
#include "tensor/random.hpp"
#include "tensor/shape.hpp"
#include "tensor/tensor.hpp"

namespace stagewise {

/// For typed tests: both precisions, under names that a reader of the test's output recognizes.
using Precisions = testing::Types<float, double>;

struct PrecisionNames {
  template <typename T>
  static std::string GetName(int /*index*/) {  // NOLINT(*-naming): GoogleTest wants this name
    return std::is_same_v<T, float> ? "float" : "double";
  }
};

/// n numbers, uniform in [low, high), the same in either precision up to rounding.
template <typename T>
std::vector<T> random_values(Index n, std::uint64_t seed, double low = -1, double high = 1) {
  Random random(seed);
  std::vector<T> values(static_cast<std::size_t>(n));
  for (T& value : values) value = static_cast<T>(random.uniform(low, high));
  return values;
}

/// One class for each row; the first and the last class are among them where there is room.
inline std::vector<std::int32_t> random_labels(Index rows, Index classes, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::int32_t> labels(static_cast<std::size_t>(rows));
  for (std::int32_t& label : labels) {
    label = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(classes)));
  }
  if (rows > 0) labels.front() = static_cast<std::int32_t>(classes - 1);
  if (rows > 1) labels.back() = 0;
  return labels;
}

/// n NaNs: an element that an operation forgets to write, or reads before writing, stays or becomes
/// one, and no comparison lets it pass.
template <typename T>
std::vector<T> poison(Index n) {
  return std::vector<T>(static_cast<std::size_t>(n), std::numeric_limits<T>::quiet_NaN());
}

/// A wider copy to compute references in.
template <typename T>
std::vector<long double> widened(const std::vector<T>& values) {
  return {values.begin(), values.end()};
}

/// Expects |actual - expected| <= bound for every element; a NaN is never within.
template <typename T>
void expect_within(const std::vector<T>& actual, const std::vector<long double>& expected,
                   const std::vector<long double>& bounds) {
  ASSERT_EQ(actual.size(), expected.size());
  ASSERT_EQ(actual.size(), bounds.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const long double difference = std::abs(static_cast<long double>(actual[i]) - expected[i]);
    ASSERT_TRUE(difference <= bounds[i]) << "element " << i << " of " << actual.size() << " is " << actual[i]
                                         << " instead of " << expected[i] << ", farther away than " << bounds[i];
  }
}

/// The same with a relative bound of so many units in the last place of `T`.
template <typename T>
void expect_close(const std::vector<T>& actual, const std::vector<long double>& expected, double units = 1) {
  std::vector<long double> bounds;
  bounds.reserve(expected.size());
  for (const long double value : expected) {
    bounds.push_back(units * std::numeric_limits<T>::epsilon() * std::abs(value));
  }
  expect_within(actual, expected, bounds);
}

/// The sentence of the Error that `work` throws; empty if it throws none.
template <typename Work>
std::string sentence_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Expects that `text` contains `part`.
inline void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << text << "' does not say '" << part << "'";
}

/// Host memory that hands out nothing but NaNs, for finding values that are used before they are
/// computed, and counts its bytes.
class PoisonedMemory final : public Memory {
 public:
  void* allocate(std::size_t bytes, CodeLine asker) override {
    void* const pointer = host_memory().allocate(bytes, asker);
    std::memset(pointer, 0xff, bytes);  // a NaN in float as in double
    bytes_ += bytes;
    return pointer;
  }

  void release(void* pointer) noexcept override { host_memory().release(pointer); }

  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

}  // namespace stagewise
