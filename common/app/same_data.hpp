/// @file
/// Whether the data are those that a checkpoint's network was trained on.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "app/options.hpp"

namespace stagewise {

/// Adds a fingerprint to the checkpoint, as `data-samples`, `data-preparation`,
/// `data-values` and `data-labels`.
void add_fingerprint(const Fingerprint& fingerprint, std::map<std::string, std::string>& settings);

/// Compares the data that were loaded with those of the checkpoint from which training starts: with
/// `--resume`, they must be the same; with `--load`, columns, classes and the shape of a sample
/// must fit the parameters.
/// @param data not compared without a fingerprint, which only the rank that has read them has.
/// @return what the user should know, one sentence each, for print_note().
/// @throws Error naming the checkpoint and what differs.
std::vector<std::string> check_data(const Checkpoint& checkpoint, const RunOptions& options,
                                    const Split& data);

}  // namespace stagewise
