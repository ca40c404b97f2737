/// @file
/// Networks as a stage executes them: for training, and as a checkpoint holds them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "data/dataset.hpp"
#include "io/checkpoint.hpp"
#include "training/network.hpp"
#include "training/step.hpp"

namespace stagewise {

/// The network as the stage executes it.
/// @throws Error if its training does not fit into the device's memory.
template <typename T>
Network<T> make_network(const Stage& stage, const RunOptions& options, Model model);

/// A step of the stage's own, or else the one that executes the program line by line.
template <typename T>
std::unique_ptr<Step> make_step(const Stage& stage, const StepArguments<T>& arguments);

/// Sets the shape of the samples and the number of classes: those of the data set, or where the
/// checkpoint says how many classes the network knows, so many.
/// @throws Error if the checkpoint says that the network takes other samples, or knows fewer
///         classes.
void adopt_shape(const Checkpoint& checkpoint, const Dataset& dataset, RunOptions& options);

/// Adopts the checkpoint's data, unless there is a picture, and checks options and files.
/// @return what the user should know, one sentence each.
std::vector<std::string> prepare_use(const Stage& stage, RunOptions& options, const Checkpoint& checkpoint);

/// The network as the stage executes it, with the checkpoint's parameters.
/// @param options with the shape of the samples.
/// @param rows of the largest batch.
/// @throws Error if it does not fit into the device's memory, or has other parameters.
template <typename T>
Network<T> make_trained(const Stage& stage, const RunOptions& options, const Checkpoint& checkpoint, Index rows);

/// Prints the header of a run that uses the network.
/// @param samples, classes as in print_header().
/// @param notes what the user should know, one sentence each.
void print_header_of_trained(const Stage& stage, const RunOptions& options, const std::string& samples, int classes,
                             const Checkpoint& checkpoint, const Model& model, const std::vector<std::string>& notes);

}  // namespace stagewise
