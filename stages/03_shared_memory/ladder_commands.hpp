/// @file
/// The subcommands that run the rungs of a ladder at a given size, verify each against stage 01 and
/// time it: gemm, reduce, transpose.
#pragma once

#include <array>
#include <vector>

#include "app/ladder.hpp"

namespace stagewise::shared_memory {

/// All of them, for Stage::ladders.
std::vector<LadderCommand> ladder_commands();

/// What the subcommand transpose does beside transposing, by the names that --rung takes.
inline constexpr std::array column_work = {"shift-right", "shift-left", "shift-both", "insert-ones",
                                           "remove-column"};

/// C = alpha op(A) op(B) + beta C at sizes m, n, k; the reference is cuBLAS.
/// @throws Error if it does not fit into the memory of GPU or host, or if the only rung that was
///         asked for cannot be used. UsageError if there is no such rung in this precision.
LadderReport run_gemm(const LadderRequest& request);

/// The sum of n numbers, with CUB as the reference; or, given m, the sums of the n columns of an
/// [m, n] matrix, with a copy of as many bytes.
/// @throws Error, UsageError as run_gemm() does.
LadderReport run_reduce(const LadderRequest& request);

/// The transpose of an [m, n] matrix, and the column of ones of report 003; the reference is a
/// copy.
/// @throws Error, UsageError as run_gemm() does.
LadderReport run_transpose(const LadderRequest& request);

}  // namespace stagewise::shared_memory
