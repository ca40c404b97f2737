/// @file
/// The dimensions of a tensor.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace stagewise {

/// Signed, so that differences and downward loops work; wide enough for any tensor.
using Index = std::int64_t;

/// Up to four dimensions, outermost first, row-major: images are [batch, height, width, channels],
/// filters [height, width, in, out], matrices [rows, columns].
class Shape {
 public:
  static constexpr int max_rank = 4;

  /// The shape of a scalar: no dimension, one element.
  Shape() = default;

  /// @throws Error if a dimension is negative, there are more than four, or the number of elements
  ///         does not fit into 62 bits.
  Shape(std::initializer_list<Index> dimensions);

  int rank() const { return rank_; }

  /// Length of dimension `i`; `i` counts from 0.
  Index operator[](int i) const { return dimensions_.at(static_cast<std::size_t>(i)); }

  /// Product of all dimensions.
  Index elements() const { return elements_; }

  /// The same shape with one more, outermost dimension: the batch.
  /// @throws Error as the constructor does.
  Shape batched(Index rows) const;

  /// "[2, 3]"; "[]" for a scalar.
  std::string to_string() const;

  bool operator==(const Shape&) const = default;

 private:
  void append(Index dimension);

  std::array<Index, max_rank> dimensions_{};
  int rank_ = 0;
  Index elements_ = 1;
};

}  // namespace stagewise
