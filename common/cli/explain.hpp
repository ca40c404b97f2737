/// @file
/// `train --timings` and `--explain`: how long the lines of a step take, and how long they must.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/report.hpp"
#include "network/cost.hpp"
#include "training/executor.hpp"

namespace stagewise {

/// Whether the kernels of these lines have been counted.
bool are_counted(const std::vector<Timing>& timings);

/// A table of what a step's lines move and compute, their floors and their times, within 80
/// columns. The step is the mean of all that were measured; a line's first call is not in its time,
/// because it may also load the kernel. If kernels have been counted, the table also has what they
/// asked of global memory: the bytes, in whole sectors, and the sectors a request.
/// @param timings at least one.
/// @param limits of the device; empty if nothing is known about it: then there are no floors.
/// @param times_count whether the times are those of that device; otherwise they are left out.
std::string explanation(const std::vector<Timing>& timings, const std::optional<DeviceLimits>& limits,
                        bool times_count);

/// Adds costs and floors to the rows of a report, one for each timing.
void explain(const std::vector<Timing>& timings, const std::optional<DeviceLimits>& limits,
             std::vector<TimingReport>& reports);

/// Prints the list of the program's lines, with the time that each has taken.
void print_timings(const std::vector<Timing>& timings);

/// The same for the report.
std::vector<TimingReport> timing_reports(const std::vector<Timing>& timings);

}  // namespace stagewise
