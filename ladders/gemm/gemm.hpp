/// @file
/// The whole GEMM ladder: the rungs of the stages, and those beyond.
#pragma once

#include <span>
#include <string_view>

#include "03_shared_memory/kernels.hpp"

namespace stagewise::ladder {

/// All variants of the product, from the slowest to the fastest, then those that round.
template <typename T>
Ladder<GemmProblem<T>> gemm_ladder();

/// See shared_memory::gemm_tiles(), also for the rungs that round.
template <typename T>
shared_memory::GemmTiles<T> gemm_tiles(std::string_view rung);

}  // namespace stagewise::ladder
