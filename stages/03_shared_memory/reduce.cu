/// @file
/// The reduction ladder: which kernels make up its rungs.
///
/// Rungs 1 to 6 are a way to fetch (passes.cuh) and a tree; the sums of columns (columns.cuh) and
/// the totals of an epoch (totals.cuh) use the same trees. Rungs 7 to 10 have kernels of their own.

#include <array>

#include "03_shared_memory/reduce.hpp"
#include "03_shared_memory/reduce/10_dependent_launch.cuh"
#include "03_shared_memory/reduce/1_interleaved.cuh"
#include "03_shared_memory/reduce/2_non_divergent.cuh"
#include "03_shared_memory/reduce/3_sequential.cuh"
#include "03_shared_memory/reduce/4_first_add.cuh"
#include "03_shared_memory/reduce/5_last_warp.cuh"
#include "03_shared_memory/reduce/6_shuffles.cuh"
#include "03_shared_memory/reduce/7_coalesced_columns.cuh"
#include "03_shared_memory/reduce/7_vector_loads.cuh"
#include "03_shared_memory/reduce/8_one_pass.cuh"
#include "03_shared_memory/reduce/9_fitted_columns.cuh"
#include "03_shared_memory/reduce/9_sentinel.cuh"
#include "03_shared_memory/reduce/columns.cuh"
#include "03_shared_memory/reduce/passes.cuh"
#include "03_shared_memory/reduce/totals.cuh"

namespace stagewise::shared_memory {
namespace {

/// What a rung says about itself, the same in all three ladders.
struct Label {
  std::string_view name;
  std::string_view file;
  std::string_view idea;
};

constexpr auto labels = std::to_array<Label>({
    {"interleaved", "stages/03_shared_memory/reduce/1_interleaved.cuh",
     "a block adds in pairs, neighbours first"},
    {"non-divergent", "stages/03_shared_memory/reduce/2_non_divergent.cuh",
     "the threads that add are neighbours"},
    {"sequential", "stages/03_shared_memory/reduce/3_sequential.cuh",
     "and so are their elements: no bank conflicts"},
    {"first-add", "stages/03_shared_memory/reduce/4_first_add.cuh",
     "half the threads: the first addition while loading"},
    {"last-warp", "stages/03_shared_memory/reduce/5_last_warp.cuh",
     "the last warp goes on without barriers of the block"},
    {"shuffles", "stages/03_shared_memory/reduce/6_shuffles.cuh", "warps add up in registers"},
    {"vector-loads", "stages/03_shared_memory/reduce/7_vector_loads.cuh",
     "few blocks that stay, loads of 16 bytes"},
    {"one-pass", "stages/03_shared_memory/reduce/8_one_pass.cuh",
     "the last block to finish does the rest"},
    {"sentinel", "stages/03_shared_memory/reduce/9_sentinel.cuh",
     "partial sums that tell that they are there: no fences"},
    {"dependent-launch", "stages/03_shared_memory/reduce/10_dependent_launch.cuh",
     "launched while the kernel before ends"},
});

template <typename Problem>
constexpr Rung<Problem> rung(int number, decltype(Rung<Problem>::run) run,
                             decltype(Rung<Problem>::supports) supports) {
  const Label& label = labels[static_cast<std::size_t>(number - 1)];
  return {label.name, label.file, label.idea, run, supports};
}

template <typename T, typename Load, typename Tree>
constexpr Rung<SumProblem<T>> sum_rung(int number) {
  return rung<SumProblem<T>>(number, sum_by_passes<Load, Tree, T>, supports_passes<Load, T>);
}

template <typename T, typename Tree, int threads>
constexpr Rung<ColumnSumsProblem<T>> column_sums_rung(int number) {
  return rung<ColumnSumsProblem<T>>(number, column_sums_by_tree<Tree, threads, T>,
                                    supports_everything<ColumnSumsProblem<T>>);
}

template <typename T, typename Tree, int threads>
constexpr Rung<AccumulateProblem<T>> accumulate_rung(int number) {
  return rung<AccumulateProblem<T>>(number, add_to_totals<Tree, threads, T>,
                                    supports_everything<AccumulateProblem<T>>);
}

template <typename T>
constexpr auto sum_rungs = std::to_array<Rung<SumProblem<T>>>(
    {sum_rung<T, LoadOne, Interleaved>(1), sum_rung<T, LoadOne, NonDivergent>(2),
     sum_rung<T, LoadOne, Sequential>(3), sum_rung<T, FirstAdd, Sequential>(4),
     sum_rung<T, FirstAdd, LastWarp>(5), sum_rung<T, FirstAdd, Shuffles>(6),
     rung<SumProblem<T>>(7, sum_with_vector_loads<T>, supports_everything<SumProblem<T>>),
     rung<SumProblem<T>>(8, sum_in_one_pass<T>, supports_everything<SumProblem<T>>),
     rung<SumProblem<T>>(9, sum_by_sentinels<Start::in_order, T>,
                         supports_everything<SumProblem<T>>),
     rung<SumProblem<T>>(10, sum_by_dependent_launch<T>, supports_everything<SumProblem<T>>)});

template <typename T>
constexpr auto column_sums_rungs = std::to_array<Rung<ColumnSumsProblem<T>>>(
    {column_sums_rung<T, Interleaved, 256>(1), column_sums_rung<T, NonDivergent, 256>(2),
     column_sums_rung<T, Sequential, 256>(3), column_sums_rung<T, Sequential, 128>(4),
     column_sums_rung<T, LastWarp, 128>(5), column_sums_rung<T, Shuffles, 128>(6),
     Rung<ColumnSumsProblem<T>>{labels[6].name,
                                "stages/03_shared_memory/reduce/7_coalesced_columns.cuh",
                                "32 columns side by side: coalesced", column_sums_coalesced<T>,
                                supports_everything<ColumnSumsProblem<T>>},
     rung<ColumnSumsProblem<T>>(8, column_sums_in_one_pass<T>,
                                supports_everything<ColumnSumsProblem<T>>),
     Rung<ColumnSumsProblem<T>>{
         labels[8].name, "stages/03_shared_memory/reduce/9_fitted_columns.cuh",
         "blocks that fit the matrix", column_sums_by_fitted_blocks<Start::in_order, T>,
         supports_everything<ColumnSumsProblem<T>>},
     rung<ColumnSumsProblem<T>>(10, column_sums_by_dependent_launch<T>,
                                supports_everything<ColumnSumsProblem<T>>)});

template <typename T>  // one block needs neither 16 bytes at once nor another pass
constexpr auto accumulate_rungs = std::to_array<Rung<AccumulateProblem<T>>>(
    {accumulate_rung<T, Interleaved, 256>(1), accumulate_rung<T, NonDivergent, 256>(2),
     accumulate_rung<T, Sequential, 256>(3), accumulate_rung<T, Sequential, 128>(4),
     accumulate_rung<T, LastWarp, 128>(5), accumulate_rung<T, Shuffles, 128>(6),
     accumulate_rung<T, Shuffles, 128>(7), accumulate_rung<T, Shuffles, 128>(8),
     accumulate_rung<T, Shuffles, 128>(9), accumulate_rung<T, Shuffles, 128>(10)});

}  // namespace

template <typename T>
Ladder<SumProblem<T>> sum_ladder() {
  return sum_rungs<T>;
}

template <typename T>
Ladder<ColumnSumsProblem<T>> column_sums_ladder() {
  return column_sums_rungs<T>;
}

template <typename T>
Ladder<AccumulateProblem<T>> accumulate_ladder() {
  return accumulate_rungs<T>;
}

template Ladder<SumProblem<float>> sum_ladder();
template Ladder<SumProblem<double>> sum_ladder();
template Ladder<ColumnSumsProblem<float>> column_sums_ladder();
template Ladder<ColumnSumsProblem<double>> column_sums_ladder();
template Ladder<AccumulateProblem<float>> accumulate_ladder();
template Ladder<AccumulateProblem<double>> accumulate_ladder();

}  // namespace stagewise::shared_memory
