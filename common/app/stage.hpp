/// @file
/// What a stage tells the common command line about itself.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/ladder.hpp"
#include "app/program.hpp"
#include "backend/backend.hpp"
#include "training/latency.hpp"
#include "training/ranks.hpp"
#include "training/step.hpp"
#include "training/worker_step.hpp"

namespace stagewise {

/// Values of a stage's own options, by name without dashes.
using StageOptions = std::map<std::string, std::string>;

/// An option of one stage, with a fixed list of values.
struct StageOption {
  std::string name;         ///< "gemm", for `--gemm`
  std::string description;  ///< for the help text
  std::vector<std::string> choices;
  std::string default_choice;
  std::string choice_without_value = {};  ///< what `--name` alone means; empty: it needs a value
  bool only_trains = false;               ///< whether `evaluate` does not offer it
  bool changes_no_number = false;         ///< but by rounding: a training may resume with another
};

/// Why an option has no effect, given the others, as the end of a sentence that begins with its
/// name: "is for --model cnn"; empty if it has one.
using WhyIdle = std::function<std::string(const std::string& option, const StageOptions&,
                                          const ModelOptions&, const WorkerOptions&)>;

/// What a stage makes its own kind of step from. All of it outlives the step.
template <typename T>
struct StepArguments {
  Network<T>& network;
  const ModelOptions& model;  ///< what the network was built from
  const Dataset& training_set;
  const Sgd& sgd;
  const StageOptions& options;
  const WorkerOptions& workers;
  const std::vector<std::vector<ParameterValues>>& starts;  ///< of the workers; see WorkerStep
  std::int64_t steps_done;                                  ///< before this training
  bool timings;                                             ///< whether --timings was asked for
};

/// Where a primitive is computed, for `info --primitives`.
struct PrimitiveSource {
  std::string primitive;
  std::string file;
};

/// A further subcommand of one stage.
struct StageCommand {
  std::string name;
  std::string summary;

  /// Declares its options.
  std::function<void(CLI::App&)> declare;

  /// Runs it, after its options have been parsed.
  /// @param command the command line as it was given, for a report.
  /// @return the exit code.
  std::function<int(const std::vector<std::string>& command)> run;
};

/// A stage, as the command line sees it. Its program's main() fills one and calls run_stage().
struct Stage {
  std::string program;  ///< "stage01_serial"
  std::string summary;  ///< one line: how this stage computes

  /// What the work runs on: the kind of device, then which one: "CPU (AMD EPYC, one core)".
  std::function<std::string()> device;

  /// Whether kernels run through CUDA on the CPU, so that times mean nothing about GPUs.
  bool cuda_on_cpu = false;

  bool has_workers = false;  ///< whether it offers --workers and its companions

  /// @name For a stage that runs in several processes
  /// @{

  /// Not owned; null: there is but one.
  Ranks* ranks = nullptr;

  /// Whether, with these options, every rank is a worker, so that their number is given.
  std::function<bool(const StageOptions&)> ranks_are_workers;

  /// Where the ranks are and, if they train, how they work together: a line below the header. Empty
  /// for none.
  std::function<std::string(const StageOptions&, bool trains)> describe_ranks;

  /// Called before data are loaded and the device is used. May be empty.
  std::function<void(const StageOptions&)> prepare;

  ProgramHooks hooks;

  /// @}

  /// Refuses by UsageError what it cannot train so. May be empty.
  std::function<void(const StageOptions&, const ModelOptions&, const WorkerOptions&)> check;

  std::vector<StageOption> options;

  /// Asked for its own options and for those that all stages have. May be empty.
  WhyIdle why_idle;

  std::function<std::unique_ptr<Backend<float>>(const StageOptions&)> make_float_backend;
  std::function<std::unique_ptr<Backend<double>>(const StageOptions&)> make_double_backend;

  /// For stages with a step of their own: makes it, or returns null where the options ask for the
  /// ordinary one, which simulates workers. May be empty.
  std::function<std::unique_ptr<Step>(const StepArguments<float>&)> make_float_step;
  std::function<std::unique_ptr<Step>(const StepArguments<double>&)> make_double_step;

  /// For stages with a way of their own to bring batches to the device. May be empty.
  std::function<std::unique_ptr<Feeder<float>>(Network<float>&, const Dataset&)> make_float_feeder;
  std::function<std::unique_ptr<Feeder<double>>(Network<double>&, const Dataset&)>
      make_double_feeder;

  /// For stages with ways of their own to answer batches: those that they offer for this network,
  /// in the order in which they are to be measured. May be empty.
  std::function<std::vector<std::unique_ptr<Predictor<float>>>(Network<float>&)>
      make_float_predictors;
  std::function<std::vector<std::unique_ptr<Predictor<double>>>(Network<double>&)>
      make_double_predictors;

  std::vector<LadderCommand> ladders;  ///< its ladders, each a subcommand
  std::vector<StageCommand> commands;  ///< its further subcommands

  std::vector<PrimitiveSource> primitives;

  /// Libraries that the stage computes with, each with its version.
  std::function<std::vector<std::string>()> libraries;

  /// Whether this process prints and writes files.
  bool is_first_rank() const { return ranks == nullptr || ranks->rank() == 0; }

  /// How many workers there must be because every rank is one; 0: the user chooses.
  int workers_by_ranks(const StageOptions& values) const {
    return ranks_are_workers && ranks_are_workers(values) ? ranks->count() : 0;
  }

  /// The backend for precision `T`.
  template <typename T>
  std::unique_ptr<Backend<T>> make_backend(const StageOptions& values) const {
    if constexpr (sizeof(T) == sizeof(float)) {
      return make_float_backend(values);
    } else {
      return make_double_backend(values);
    }
  }

  /// The stage's own step, or null where it has none for these options.
  template <typename T>
  std::unique_ptr<Step> make_step(const StepArguments<T>& arguments) const {
    if constexpr (sizeof(T) == sizeof(float)) {
      return make_float_step ? make_float_step(arguments) : nullptr;
    } else {
      return make_double_step ? make_double_step(arguments) : nullptr;
    }
  }

  /// What brings batches of the data set to the network.
  template <typename T>
  std::unique_ptr<Feeder<T>> make_feeder(Network<T>& network, const Dataset& dataset) const {
    if constexpr (sizeof(T) == sizeof(float)) {
      if (make_float_feeder) return make_float_feeder(network, dataset);
    } else {
      if (make_double_feeder) return make_double_feeder(network, dataset);
    }
    return std::make_unique<PlainFeeder<T>>(network, dataset);
  }

  /// The stage's own ways to answer batches, besides the one that all stages have.
  template <typename T>
  std::vector<std::unique_ptr<Predictor<T>>> make_predictors(Network<T>& network) const {
    if constexpr (sizeof(T) == sizeof(float)) {
      if (make_float_predictors) return make_float_predictors(network);
    } else {
      if (make_double_predictors) return make_double_predictors(network);
    }
    return {};
  }
};

/// The whole program of a stage: `train`, `evaluate`, `info` and its ladders.
/// @return the exit code: 0 done, 1 a run-time failure, 2 wrong usage.
int run_stage(const Stage& stage, int argc, const char* const* argv);

/// Name of the processor, as the system gives it.
std::string processor_name();

}  // namespace stagewise
