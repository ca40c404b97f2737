/// @file
/// A network and the step that trains it, as a stage executes them.
#pragma once

#include <memory>

#include "app/options.hpp"
#include "app/stage.hpp"
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

}  // namespace stagewise
