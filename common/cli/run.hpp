/// @file
/// The subcommands that every stage offers, and what every run does around its work: it makes sure
/// that it replaces no file that it reads, nor works for a file that cannot be written, and prints
/// about itself and the test set.
#pragma once

#include <cstdint>
#include <string>

#include "cli/options.hpp"
#include "cli/stage.hpp"
#include "data/dataset.hpp"
#include "io/report.hpp"
#include "training/evaluate.hpp"
#include "training/ranks.hpp"

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

/// What a sample of the data set is called: "image" or "sample".
std::string unit_of(const Dataset& dataset);

/// Prints the program and its device, the data, the network.
/// @param samples how many there are: "10,000 training and 2,000 test images".
/// @param sample the shape of one.
/// @param classes how many classes they belong to.
/// @param parameters how many numbers the network learns.
void print_header(const Stage& stage, const RunOptions& options, const std::string& samples, const Shape& sample,
                  int classes, std::int64_t parameters);

/// The report of such a run; its results are added later.
Report report_of(const Stage& stage, const RunOptions& options);

/// Prints loss and accuracy of the test set, and adds them to the report.
void add_test(const Evaluation& test, Report& report);

/// A line of the header: "note   ...".
void print_note(const std::string& text);

/// Prints how much memory a network takes, if it is so much that filling it takes a while.
void announce_size(double bytes);

/// To be called after a checkpoint's options have been adopted, and before any file is written.
/// `--save` and `--save-best` may name the file of `--resume`, which is then updated.
/// @param ranks the first of them writes; all must call this.
/// @throws UsageError if a file would be both read and written, or two results written to one file.
void check_files(const RunOptions& options, Ranks& ranks);

/// Makes sure that the results can be written, before hours of work.
/// @throws Error naming the file and the reason.
void check_results_writable(const Stage& stage, const RunOptions& options);

}  // namespace stagewise
