/// @file
/// The options of `train`, `evaluate` and `predict`, and how a checkpoint affects them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/program.hpp"
#include "cli/stage.hpp"
#include "io/checkpoint.hpp"
#include "io/data_sets/load.hpp"
#include "io/images/image.hpp"
#include "network/model.hpp"
#include "network/workers.hpp"
#include "training/trainer.hpp"

namespace stagewise {

/// What a checkpoint says about an option.
enum class Kept : std::uint8_t {
  no,
  freely,       ///< what it was; --resume may be given another
  of_training,  ///< how training continues
  of_network    ///< which network it holds
};

struct RunOptions;

/// An option, as a value in RunOptions.
struct Option {
  unsigned commands;          ///< of Command
  std::string group;          ///< of the help text
  Kept kept;                  ///< by a checkpoint
  std::string name = {};      ///< without dashes
  std::string argument = {};  ///< what stands for its value in the help text: "N"; empty: a flag
  std::string description = {};
  std::function<void(const std::string&, RunOptions&)> read = {};
  std::function<std::string(const RunOptions&)> write = {};
  std::function<void(RunOptions&)> reset = {};  ///< sets the default
  /// Why it has no effect, given the others, as the end of a sentence that begins with its name:
  /// "is for --dataset gaussian"; empty if it has one, as always without this function.
  std::function<std::string(const RunOptions&)> why_idle = {};
  std::string insists = {};       ///< the value that is refused, not ignored, without effect
  std::string stored_as = {};     ///< by a checkpoint; empty: by its name
  std::string alone = {};         ///< what `--name` alone means; empty: it needs a value
  std::string if_absent = {};     ///< what a checkpoint without it means; empty: it says too little
  std::string default_text = {};  ///< what the help says it is, if not its value
  bool is_required = false;
};

/// Everything that the command line can specify, with defaults.
struct RunOptions {
  DatasetOptions data;
  ModelOptions model;  ///< sample and classes follow from the data or the checkpoint
  std::string precision = "float";
  TrainingOptions training;
  WorkerOptions workers;
  bool ranks_are_workers = false;          ///< so that a checkpoint does not decide how many there are
  std::optional<TableEncoding> encoding;   ///< of the table that the network was trained on
  std::optional<Fingerprint> fingerprint;  ///< of the data that it is trained on
  std::filesystem::path load;
  std::filesystem::path save;
  std::filesystem::path resume;
  std::filesystem::path save_best;
  std::filesystem::path report;
  std::filesystem::path csv;
  std::int64_t save_every = 0;  ///< epochs; 0: only at the end
  bool timings = false;
  bool explain = false;
  bool latency = false;
  bool confusion = false;
  Index mistakes = 0;           ///< how many are shown
  bool shows_program = false;   ///< by `info`
  std::filesystem::path image;  ///< the one that is predicted; empty: a data set
  std::optional<Index> sample;  ///< the only one of the data set that is predicted
  Background background = Background::automatic;
  StageOptions stage;
  std::vector<std::string> command;  ///< the command line as it was given, for the report
  WhyIdle stage_why_idle;            ///< as the stage's; may be empty
  std::vector<Option> options;       ///< all that there are, also those that another command offers
  std::set<std::string> given;       ///< names, without dashes, of the options on the command line
  std::set<std::string> adopted;     ///< and of those that come from a checkpoint instead
};

/// The settings that decide how a training continues, as a checkpoint stores them.
std::map<std::string, std::string> settings_of(const RunOptions& options);

/// Takes from the checkpoint every setting of the network that is not on the command line: model,
/// hidden layers, activation, loss, precision.
/// @throws Error if the command line contradicts the checkpoint.
void adopt_model(const Checkpoint& checkpoint, const std::filesystem::path& file, RunOptions& options);

/// Takes over all settings, including those for training, so that training continues exactly.
/// @throws UsageError for an option on the command line that the checkpoint decides; Error if the
///         checkpoint does not say how it was trained.
void adopt_training(const Checkpoint& checkpoint, const std::filesystem::path& file, RunOptions& options);

/// Takes over the data set that the network was trained on, unless the command line names another,
/// with its format, label, or parameters if it is generated.
/// @param trains whether training follows, or an evaluation.
/// @return what the user should know about this, one sentence each, for print_note().
std::vector<std::string> adopt_data(const Checkpoint& checkpoint, RunOptions& options, bool trains);

/// Lets the stage replace values such as `auto` (Stage::settle); if every rank is a worker then,
/// sets their number.
/// @param ranks how many there are.
/// @throws UsageError if the command line specifies another number of workers.
void settle(const Stage& stage, RunOptions& options, int ranks);

/// Sets options on the command line that have no effect (see why_idle()) to their defaults, each
/// with a note on standard error, which one process writes for all.
/// @throws UsageError for an option of the network, for one of the data beside --image, and for a
///         choice that insists on its effect (StageOption::insists).
void drop_idle_options(const Stage& stage, RunOptions& options);

/// @throws UsageError for a number that is neither 0 nor infinite as written, but becomes so in the
///         chosen precision.
void check_precision(const RunOptions& options);

/// What a network was built for.
struct DataShape {
  Shape sample;
  int classes;
};

/// What the checkpoint's network was built for; empty if the checkpoint does not say.
/// @throws Error if what it says makes no sense.
std::optional<DataShape> read_data_shape(const Checkpoint& checkpoint, const std::filesystem::path& file);

/// "784-256-10, relu, cross-entropy".
std::string describe(const ModelOptions& model);

}  // namespace stagewise
