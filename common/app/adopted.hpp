/// @file
/// Errors about options that come from a checkpoint, not from the command line.
#pragma once

#include <filesystem>
#include <string>

#include "app/options.hpp"
#include "tensor/error.hpp"
#include "tensor/option_error.hpp"

namespace stagewise {

/// Blames the checkpoint for an error whose options all come from it, none from the user.
/// @param file the checkpoint.
/// @throws Error that names the file and its attributes, if the error is of that kind.
void blame_checkpoint(const OptionError& error, const RunOptions& options,
                      const std::filesystem::path& file);

/// Does `work`, some of whose options come from the checkpoint.
/// @throws as `work` and blame_checkpoint().
template <typename Work>
void with_adopted(const RunOptions& options, const std::filesystem::path& file, const Work& work) {
  try {
    work();
  } catch (const OptionError& error) {
    blame_checkpoint(error, options, file);
    throw;
  }
}

/// Loads data with `load`; if the checkpoint named them, an error says so.
template <typename Load>
auto load_adopted(const RunOptions& options, const std::filesystem::path& file, const Load& load) {
  try {
    return load();
  } catch (const UsageError&) {
    throw;
  } catch (const Error& error) {
    if (!options.adopted.contains("dataset")) throw;
    throw Error(std::string(error.what()) + "; the checkpoint " + file.string() +
                " names this data set, --dataset another");
  }
}

/// Makes sure that the network that the checkpoint's attributes describe fits its parameters,
/// before memory is allocated.
/// @throws Error naming the attribute and the parameter that contradict each other.
void expect_described(const Checkpoint& checkpoint, const RunOptions& options,
                      const std::filesystem::path& file);

}  // namespace stagewise
