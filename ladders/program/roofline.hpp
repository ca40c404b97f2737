/// @file
/// The option --roofline: the results of a ladder as a figure.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ladders/program/results.hpp"

namespace stagewise::ladder {

/// Refuses a figure that cannot be drawn, before the work.
/// @throws UsageError if the name ends in neither .svg nor .png. Error if there would be nothing to
///         draw, since kernels run on the CPU without being counted, or it cannot be written.
void check_roofline(const std::filesystem::path& figure);

/// Draws the rates of the kernels under the roof of their device, by `run.sh plot roofline`.
/// @param options among them the figure, and the report that it is made of; without, a temporary
///        one.
/// @throws Error if it cannot be drawn.
void draw_roofline(const Results& results, const Options& options, const std::vector<std::string>& command);

}  // namespace stagewise::ladder
