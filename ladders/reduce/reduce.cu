/// @file
/// The ladder of whole sums: which kernels make up its rungs.
///
/// Rungs 1 to 6 are a way to fetch (passes.cuh) and a tree of stage 03. Rungs 7 to 10 have kernels
/// of their own.

#include <array>

#include "03_shared_memory/reduce/1_interleaved.cuh"
#include "03_shared_memory/reduce/2_non_divergent.cuh"
#include "03_shared_memory/reduce/3_sequential.cuh"
#include "03_shared_memory/reduce/5_last_warp.cuh"
#include "03_shared_memory/reduce/6_shuffles.cuh"
#include "ladders/reduce/10_dependent_launch.cuh"
#include "ladders/reduce/4_first_add.cuh"
#include "ladders/reduce/7_vector_loads.cuh"
#include "ladders/reduce/8_one_pass.cuh"
#include "ladders/reduce/9_sentinel.cuh"
#include "ladders/reduce/passes.cuh"
#include "ladders/reduce/reduce.hpp"

namespace stagewise::shared_memory {
namespace {

template <typename T, typename Load, typename Tree>
constexpr Rung<SumProblem<T>> by_passes(std::string_view name, std::string_view file, std::string_view idea) {
  return {name, file, idea, sum_by_passes<Load, Tree, T>, supports_passes<Load, T>};
}

template <typename T>
constexpr Rung<SumProblem<T>> of_its_own(std::string_view name, std::string_view file, std::string_view idea,
                                         decltype(Rung<SumProblem<T>>::run) run) {
  return {name, file, idea, run, supports_everything<SumProblem<T>>};
}

//! [ladder]
template <typename T>
constexpr auto rungs = std::to_array<Rung<SumProblem<T>>>({
    by_passes<T, LoadOne, Interleaved>("interleaved", "stages/03_shared_memory/reduce/1_interleaved.cuh",
                                       "a block adds in pairs, neighbours first"),
    by_passes<T, LoadOne, NonDivergent>("non-divergent", "stages/03_shared_memory/reduce/2_non_divergent.cuh",
                                        "the threads that add are neighbours"),
    by_passes<T, LoadOne, Sequential>("sequential", "stages/03_shared_memory/reduce/3_sequential.cuh",
                                      "and so are their elements: no bank conflicts"),
    by_passes<T, FirstAdd, Sequential>("first-add", "ladders/reduce/4_first_add.cuh",
                                       "half the threads: the first addition while loading"),
    by_passes<T, FirstAdd, LastWarp>("last-warp", "stages/03_shared_memory/reduce/5_last_warp.cuh",
                                     "the last warp goes on without barriers of the block"),
    by_passes<T, FirstAdd, Shuffles>("shuffles", "stages/03_shared_memory/reduce/6_shuffles.cuh",
                                     "warps add up in registers"),
    of_its_own<T>("vector-loads", "ladders/reduce/7_vector_loads.cuh", "few blocks that stay, loads of 16 bytes",
                  sum_with_vector_loads<T>),
    of_its_own<T>("one-pass", "ladders/reduce/8_one_pass.cuh", "the last block to finish does the rest",
                  sum_in_one_pass<T>),
    of_its_own<T>("sentinel", "ladders/reduce/9_sentinel.cuh", "partial sums that tell that they are there: no fences",
                  sum_by_sentinels<Start::in_order, T>),
    of_its_own<T>("dependent-launch", "ladders/reduce/10_dependent_launch.cuh", "launched while the kernel before ends",
                  sum_by_dependent_launch<T>),
});
//! [ladder]

}  // namespace

template <typename T>
Ladder<SumProblem<T>> sum_ladder() {
  return rungs<T>;
}

template Ladder<SumProblem<float>> sum_ladder();
template Ladder<SumProblem<double>> sum_ladder();

}  // namespace stagewise::shared_memory
