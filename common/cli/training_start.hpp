/// @file
/// What a training starts from: a checkpoint, or parameters drawn at random.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "io/checkpoint.hpp"
#include "tensor/error.hpp"

namespace stagewise {

/// The file that `--load` or `--resume` names.
struct TrainingStart {
  std::filesystem::path file;  ///< empty: there is none
  Checkpoint checkpoint;       ///< what it holds

  bool is_given() const { return !file.empty(); }

  /// What errors call it.
  std::string source() const { return "the checkpoint " + file.string(); }
};

/// Reads it, if there is one, and adopts its settings: those of the network, and to resume, all.
/// @throws Error if the file is damaged, not the same on every rank, or contradicts the
///         command line or itself.
TrainingStart read_start(const Stage& stage, RunOptions& options);

/// Adds a fingerprint to the checkpoint, as `data-samples`, `data-preparation`,
/// `data-values` and `data-labels`.
void add_fingerprint(const Fingerprint& fingerprint, std::map<std::string, std::string>& settings);

/// Compares the data that were loaded with those of the checkpoint from which training starts: with
/// `--resume`, they must be the same; with `--load`, columns, classes and the shape of a sample
/// must fit the parameters.
/// @param data not compared without a fingerprint, which only the rank that has read them has.
/// @return what the user should know, one sentence each, for print_note().
/// @throws Error naming the checkpoint and what differs.
std::vector<std::string> check_data(const Checkpoint& checkpoint, const RunOptions& options, const Split& data);

/// Does `work`. If options fail it that all come from the checkpoint, none from the user, the file
/// is blamed.
/// @throws Error that names the file and its attributes then; and as `work`.
void with_adopted(const RunOptions& options, const std::filesystem::path& file, const std::function<void()>& work);

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

/// Whether a resumed training can continue from there.
/// @throws UsageError if it has more epochs behind it than `--epochs` says; Error if it was trained
///         on as many samples as make another number of steps.
void check_resumption(const RunOptions& options, const TrainingStart& start, Index samples, Index steps_per_epoch);

/// Where each worker starts, if each has parameters of its own; else where all do.
/// @param note receives what the user should know, if there is something.
std::vector<std::vector<ParameterValues>> starting_parameters(const Model& model, const RunOptions& options,
                                                              const TrainingStart& start, std::string& note);

}  // namespace stagewise
