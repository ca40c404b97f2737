/// @file
/// Sums as a ladder of kernels.
#pragma once

#include "03_shared_memory/ladder.hpp"
#include "network/problems.hpp"

namespace stagewise::shared_memory {

/// out[0] = the sum of n elements.
template <typename T>
struct SumProblem {
  Index n = 0;
  const T* x = nullptr;
  T* out = nullptr;
};

/// out[j] = the sum of column j of x [rows, cols]: the gradient of a bias.
template <typename T>
struct ColumnSumsProblem {
  Index rows = 0;
  Index cols = 0;
  const T* x = nullptr;
  T* out = nullptr;
};

/// Adds a batch to the epoch's totals; see Accumulate.
template <typename T>
struct AccumulateProblem {
  Index rows = 0;
  const T* row_losses = nullptr;
  const std::int32_t* predictions = nullptr;
  const std::int32_t* labels = nullptr;
  std::int64_t step = 0;
  Totals* totals = nullptr;
};

// The three ladders have the same rungs, by name and number.

/// Variants of the full sum, from the slowest to the fastest; see the files in reduce/.
template <typename T>
Ladder<SumProblem<T>> sum_ladder();

/// The same for the sums of columns.
template <typename T>
Ladder<ColumnSumsProblem<T>> column_sums_ladder();

/// The same for the totals of an epoch.
template <typename T>
Ladder<AccumulateProblem<T>> accumulate_ladder();

/// The rung that the executor uses where nobody asks for another: the last one but for the one that
/// pays only behind kernels that allow it.
constexpr std::string_view default_reduce_rung = "sentinel";

}  // namespace stagewise::shared_memory
