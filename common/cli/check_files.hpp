/// @file
/// Makes sure that no run replaces a file that it reads, or works for a file that cannot be
/// written.
#pragma once

#include "cli/options.hpp"
#include "training/ranks.hpp"

namespace stagewise {

/// To be called after a checkpoint's options have been adopted, and before any file is written.
/// `--save` and `--save-best` may name the file of `--resume`, which is then updated.
/// @param ranks the first of them writes; all must call this.
/// @throws UsageError if a file would be both read and written, or two results written to one file.
void check_files(const RunOptions& options, Ranks& ranks);

/// Makes sure that the results can be written, before hours of work.
/// @throws Error naming the file and the reason.
void check_results_writable(const Stage& stage, const RunOptions& options);

}  // namespace stagewise
