/// @file
/// The options of `train`, `evaluate`, `predict` and `info`: one table, from which they are
/// declared, checkpoints are written and read, and what has no effect is found.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/options.hpp"

namespace stagewise {

/// The commands that offer an option, of which there may be several.
enum Command : std::uint8_t { for_train = 1, for_evaluate = 2, for_predict = 4, for_info = 8 };

/// The group of options that only some stages have, but share.
inline const std::string workers_group = "Workers";

/// Those that all stages have, in the order of the help text. One name may have several entries,
/// for different commands.
const std::vector<Option>& option_table();

/// Why an option has no effect; see Option::why_idle. No checkpoint stores such an
/// option, but for averages that wait for further ranks (settings_of()). On the
/// command line, it is refused or ignored; see drop_idle_options().
std::string why_idle(const Option& option, const RunOptions& options);

/// Declares the options of a command, also the stage's own; `options` receives them and must
/// outlive it.
void add_options(CLI::App& app, Command command, const Stage& stage, RunOptions& options);

/// "256,128", or "none".
std::string list(const std::vector<Index>& numbers);

}  // namespace stagewise
