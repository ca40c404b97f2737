/// @file
/// Other programs, run to their end.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace stagewise {

/// Runs a program to its end.
/// @param words its name, which is looked for on the PATH, and its arguments.
/// @param output a new file for its standard output; empty: it writes where this process does.
/// @return its exit code; 128 + N if signal N ended it.
/// @throws Error if it cannot be started.
int run_child(const std::vector<std::string>& words, const std::filesystem::path& output = {});

}  // namespace stagewise
