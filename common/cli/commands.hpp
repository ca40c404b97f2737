/// @file
/// The subcommands that every stage offers.
#pragma once

#include <string>
#include <vector>

#include "cli/options.hpp"
#include "cli/stage.hpp"

namespace stagewise {

/// `train`: trains a model, prints one line per epoch and a summary.
/// @param command the command line as it was given, for the report.
void run_train(const Stage& stage, RunOptions options, const std::vector<std::string>& command);

/// `evaluate`: loss and accuracy of a checkpoint on a data set.
void run_evaluate(const Stage& stage, RunOptions options, const std::vector<std::string>& command);

/// `predict`: the class of each sample of a data set, or of one image.
void run_predict(const Stage& stage, RunOptions options, const std::vector<std::string>& command);

/// `info`: what the program runs on; with --program, then the lines of a training step, each with
/// the file that computes it, and its floor.
void run_info(const Stage& stage, RunOptions options, const std::vector<std::string>& command);

}  // namespace stagewise
