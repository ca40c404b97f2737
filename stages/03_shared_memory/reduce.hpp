/// @file
/// Sums as a ladder of kernels.
#pragma once

#include "03_shared_memory/ladder.hpp"
#include "network/problems.hpp"

namespace stagewise::shared_memory {

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

/// Variants of the sums of columns, such as the gradient of a bias, from the slowest to the
/// fastest; see the files in reduce/.
template <typename T>
Ladder<ColumnSumsProblem<T>> column_sums_ladder();

/// The totals of an epoch, by the tree of that rung, or by shuffles if it is none: one block needs
/// nothing of what the rungs from the seventh on have.
template <typename T>
void accumulate(cudaStream_t stream, std::string_view rung, const AccumulateProblem<T>& problem);

/// The rung that the executor uses where nobody asks for another: the last one but for the one that
/// pays only behind kernels that allow it.
constexpr std::string_view default_reduce_rung = "sentinel";

}  // namespace stagewise::shared_memory
