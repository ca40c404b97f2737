/// @file
/// Batches that are picked from a data set.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/random.hpp"
#include "tensor/shape.hpp"

namespace stagewise::cross_stage {

/// Samples that a batch is picked from; some of them are in none.
inline constexpr Index spare_samples = 7;

/// The samples of a batch, some of them twice.
inline std::vector<std::uint32_t> random_order(Index rows, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::uint32_t> order(static_cast<std::size_t>(rows));
  for (std::uint32_t& sample : order) {
    sample =
        static_cast<std::uint32_t>(random.below(static_cast<std::uint64_t>(rows + spare_samples)));
  }
  return order;
}

/// The rows of `data` [.., width] that `order` names.
template <typename T>
std::vector<T> rows_of(const std::vector<T>& data, Index width,
                       const std::vector<std::uint32_t>& order) {
  std::vector<T> rows;
  for (const std::uint32_t sample : order) {
    const auto begin = data.begin() + static_cast<Index>(sample) * width;
    rows.insert(rows.end(), begin, begin + width);
  }
  return rows;
}

}  // namespace stagewise::cross_stage
