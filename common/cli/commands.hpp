/// @file
/// The subcommands that every stage offers.
#pragma once

#include "cli/options.hpp"
#include "cli/stage.hpp"

namespace stagewise {

/// `train`: trains a model, prints one line per epoch and a summary.
void run_train(const Stage& stage, RunOptions options);

/// `evaluate`: loss and accuracy of a checkpoint on a data set.
void run_evaluate(const Stage& stage, RunOptions options);

/// `predict`: the class of each sample of a data set, or of one image.
void run_predict(const Stage& stage, RunOptions options);

/// `info`: what the program runs on; with --program, then the lines of a training step, each with
/// the file that computes it, and its floor.
void run_info(const Stage& stage, RunOptions options);

}  // namespace stagewise
