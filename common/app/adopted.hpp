/// @file
/// Errors about options that come from a checkpoint, not from the command line.
#pragma once

#include <exception>
#include <filesystem>
#include <string>

#include "app/options.hpp"
#include "tensor/error.hpp"

namespace stagewise {

/// The error to throw for options that make no sense: if all options that it names come from the
/// checkpoint, and none from the user, an Error that names the file and its attributes; otherwise
/// the one that was caught.
/// @param file the checkpoint.
std::exception_ptr blame_checkpoint(const UsageError& error, const RunOptions& options,
                                    const std::filesystem::path& file);

/// Does `work`, some of whose options come from the checkpoint.
/// @throws as blame_checkpoint() says.
template <typename Work>
void with_adopted(const RunOptions& options, const std::filesystem::path& file, const Work& work) {
  std::exception_ptr failure;
  try {
    work();
  } catch (const UsageError& error) {
    failure = blame_checkpoint(error, options, file);
  }
  if (failure) std::rethrow_exception(failure);
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
