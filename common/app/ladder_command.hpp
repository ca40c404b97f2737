/// @file
/// The subcommands that run a stage's ladders.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/ladder.hpp"
#include "app/stage.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace stagewise {

/// What the command line of a ladder's subcommand says.
struct LadderOptions {
  LadderRequest request;
  std::filesystem::path report;  ///< empty: none is written
};

/// Declares the options of `ladder`.
/// @param options receives their values, the defaults at once.
void add_ladder_options(CLI::App& command, const Stage& stage, const LadderCommand& ladder,
                        LadderOptions& options);

/// Runs the ladder, prints its tables and writes its report.
/// @param command the command line as it was given, for the report.
/// @return the exit code: 1 if a rung is wrong, else 0.
int run_ladder(const Stage& stage, const LadderCommand& ladder, const LadderOptions& options,
               const std::vector<std::string>& command);

}  // namespace stagewise
