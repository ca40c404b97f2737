/// @file
/// The reduction ladders: which kernels make up their rungs.
///
/// Rungs 1 to 6 are trees, in which a block adds up a column, or the losses of a batch (tree.cuh).
/// Columns have further rungs with kernels of their own. The sum of a whole
/// array, of which no step of a training has need, is in ladders/reduce/.

#include <array>

#include "03_shared_memory/kernels.hpp"
#include "03_shared_memory/reduce/10_dependent_launch.cuh"
#include "03_shared_memory/reduce/1_interleaved.cuh"
#include "03_shared_memory/reduce/2_non_divergent.cuh"
#include "03_shared_memory/reduce/3_sequential.cuh"
#include "03_shared_memory/reduce/5_last_warp.cuh"
#include "03_shared_memory/reduce/6_shuffles.cuh"
#include "03_shared_memory/reduce/7_coalesced_columns.cuh"
#include "03_shared_memory/reduce/8_one_pass.cuh"
#include "03_shared_memory/reduce/9_fitted_columns.cuh"
#include "03_shared_memory/reduce/tree.cuh"

namespace stagewise::shared_memory {
namespace {

template <typename T>
const auto& column_sums_rungs() {
  static constexpr auto all = &supports_everything<ColumnSumsProblem<T>>;
  static constexpr auto ladder = std::to_array<Rung<ColumnSumsProblem<T>>>({
      {"interleaved", "stages/03_shared_memory/reduce/1_interleaved.cuh",
       "a block adds in pairs, neighbours first", column_sums_by_tree<Interleaved, 256, T>, all},
      {"non-divergent", "stages/03_shared_memory/reduce/2_non_divergent.cuh",
       "the threads that add are neighbours", column_sums_by_tree<NonDivergent, 256, T>, all},
      {"sequential", "stages/03_shared_memory/reduce/3_sequential.cuh",
       "and so are their elements: no bank conflicts", column_sums_by_tree<Sequential, 256, T>,
       all},
      {"first-add", "stages/03_shared_memory/reduce/tree.cuh",
       "half the threads: each adds more before the tree", column_sums_by_tree<Sequential, 128, T>,
       all},
      {"last-warp", "stages/03_shared_memory/reduce/5_last_warp.cuh",
       "the last warp goes on without barriers of the block", column_sums_by_tree<LastWarp, 128, T>,
       all},
      {"shuffles", "stages/03_shared_memory/reduce/6_shuffles.cuh", "warps add up in registers",
       column_sums_by_tree<Shuffles, 128, T>, all},
      {"vector-loads", "stages/03_shared_memory/reduce/7_coalesced_columns.cuh",
       "32 columns side by side: coalesced", column_sums_coalesced<T>, all},
      {"one-pass", "stages/03_shared_memory/reduce/8_one_pass.cuh",
       "the last block to finish does the rest", column_sums_in_one_pass<T>, all},
      {"sentinel", "stages/03_shared_memory/reduce/9_fitted_columns.cuh",
       "blocks that fit the matrix", column_sums_by_fitted_blocks<Start::in_order, T>, all},
      {"dependent-launch", "stages/03_shared_memory/reduce/10_dependent_launch.cuh",
       "launched while the kernel before ends", column_sums_by_dependent_launch<T>, all},
  });
  return ladder;
}

}  // namespace

template <typename T>
Ladder<ColumnSumsProblem<T>> column_sums_ladder() {
  return column_sums_rungs<T>();
}

template <typename T>
void accumulate(cudaStream_t stream, std::string_view rung, const AccumulateProblem<T>& problem) {
  if (rung == "interleaved") return add_to_totals<Interleaved, 256>(stream, problem);
  if (rung == "non-divergent") return add_to_totals<NonDivergent, 256>(stream, problem);
  if (rung == "sequential") return add_to_totals<Sequential, 256>(stream, problem);
  if (rung == "first-add") return add_to_totals<Sequential, 128>(stream, problem);
  if (rung == "last-warp") return add_to_totals<LastWarp, 128>(stream, problem);
  add_to_totals<Shuffles, 128>(stream, problem);
}

template Ladder<ColumnSumsProblem<float>> column_sums_ladder();
template Ladder<ColumnSumsProblem<double>> column_sums_ladder();
template void accumulate(cudaStream_t, std::string_view, const AccumulateProblem<float>&);
template void accumulate(cudaStream_t, std::string_view, const AccumulateProblem<double>&);

}  // namespace stagewise::shared_memory
