/// @file
/// That no result of a run replaces what the run reads.
#pragma once

#include "app/options.hpp"
#include "training/ranks.hpp"

namespace stagewise {

/// To be called when all that a checkpoint says of the options has been adopted, and before any
/// file is written. `--save` may name the file of `--resume`: the training goes on in it.
/// @param ranks of which the first writes; all must call this.
/// @throws UsageError if a file that is read is to be written, too, or two results to one file.
void check_files(const RunOptions& options, Ranks& ranks);

}  // namespace stagewise
