/// @file
/// What a stage tells the common command line about itself.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/program.hpp"
#include "network/cost.hpp"
#include "training/predictor.hpp"
#include "training/ranks.hpp"
#include "training/step.hpp"

namespace stagewise {

/// Values of a stage's own options, by name without dashes.
using StageOptions = std::map<std::string, std::string>;

/// An option of one stage, with a fixed list of values, or with whole numbers.
struct StageOption {
  std::string name;         ///< "gemm", for `--gemm`
  std::string description;  ///< for the help text
  std::vector<std::string> choices = {};
  std::string default_choice = {};
  std::string choice_without_value = {};  ///< what `--name` alone means; empty: it needs a value
  std::string insists = {};               ///< the choice that is refused, not ignored, without effect
  bool only_trains = false;               ///< whether it has no effect in `evaluate`
  bool changes_no_number = false;         ///< except by rounding: may differ when training resumes
  bool changes_program = false;           ///< whether `info` offers it, for --program
  std::int64_t largest = 0;               ///< above 0: a number from 1 to this, no choice
};

/// Why an option has no effect, given the others, as the end of a sentence that begins with its
/// name: "is for --model cnn"; empty if it has one.
using WhyIdle = std::function<std::string(const std::string& option, const StageOptions&, const ModelOptions&,
                                          const WorkerOptions&, const Sgd&)>;

/// What a step needs. All of it outlives the step.
template <typename T>
struct StepArguments {
  const StepSetup<T>& setup;
  const ModelOptions& model;
  const Sgd& sgd;
  const StageOptions& options;
  const Starts& starts;
  bool timings;  ///< whether every line is measured by itself
};

/// What a stage provides in one precision.
template <typename T>
struct InPrecision {
  std::function<std::unique_ptr<Executor<T>>(const StageOptions&)> make_executor;

  /// The rewrite of a program before its execution, for batches of up to `max_rows` samples. Empty:
  /// programs are executed as they are.
  std::function<Program(const Program&, const StageOptions&, Index max_rows)> rewrite;

  /// For stages with a step of their own: creates it, or returns null if the options ask for the
  /// plain one. May be empty.
  std::function<std::unique_ptr<Step>(const StepArguments<T>&)> make_step;

  /// For stages whose step is not just the rewritten one: what they execute. May be empty.
  std::function<Program(const Model&, const ModelOptions&, const Sgd&, const WorkerOptions&, const StageOptions&,
                        Index max_rows)>
      step_program;

  /// For stages with their own ways to predict batches: those that they offer for this network, in
  /// the order in which they are measured. May be empty.
  std::function<std::vector<std::unique_ptr<Predictor<T>>>(Network<T>&)> make_predictors;

  /// The program that is executed, for one that is asked for.
  Program rewritten(const Program& program, const StageOptions& values, Index max_rows) const {
    return rewrite ? rewrite(program, values, max_rows) : program;
  }
};

/// Where operations are computed: names of operations, and the file, from the repository's root.
using OperationFiles = std::map<std::string, std::string>;

/// Says of a folder's files which operations they compute, in place of what `files` has said.
/// @param computed a file's name in the folder, and its operations.
inline void set_files(OperationFiles& files, const std::string& folder,
                      const std::map<std::string, std::vector<std::string>>& computed) {
  for (const auto& [file, operations] : computed) {
    for (const std::string& operation : operations) files[operation] = folder + file;
  }
}

/// The files of a folder that computes the primitives: the same names in every stage.
/// @param extension of files with kernels, or with the loops in their place.
inline OperationFiles primitive_files(const std::string& folder, const std::string& extension) {
  OperationFiles files;
  set_files(files, folder,
            {{"gemm" + extension, {"gemm"}},
             {"elementwise" + extension, {"add_bias", "sum", "mean"}},
             {"reduce" + extension, {"column_sums"}},
             {"loss" + extension,
              {"softmax_cross_entropy", "softmax_cross_entropy_backward", "squared_error", "squared_error_backward",
               "accumulate"}},
             {"predict" + extension, {"argmax", "threshold"}},
             {"convolution" + extension, {"convolution", "convolution_backward"}},
             {"average_pool" + extension, {"average_pool", "average_pool_backward"}},
             {"update" + extension, {"sgd_update", "momentum_update", "adam_update"}}});
  for (const ActivationNames& one : activations) {
    set_files(files, folder, {{"elementwise" + extension, {one.name, one.backward}}});
  }
  return files;
}

/// What a program offers on the command line in addition to what all stages do. So a stage can say
/// which programs have an option that it does not have itself.
struct Offers {
  std::string program;       ///< its name
  bool has_workers = false;  ///< whether it offers --workers and its companions
  std::vector<StageOption> options = {};
  std::vector<std::string> commands = {};
};

/// What a stage's program offers with other kernels.
/// @param own its name and its options; the stage's come after them.
inline Offers with_options_of(Offers own, const Offers& stage) {
  own.has_workers = stage.has_workers;
  own.options.insert(own.options.end(), stage.options.begin(), stage.options.end());
  return own;
}

/// A stage, as the command line sees it. Its program's main() fills one and calls run_stage().
struct Stage : Offers {
  Stage() = default;

  /// @param own what the stage has registered.
  explicit Stage(Offers own) : Offers(std::move(own)) {}

  std::string summary;  ///< one line: how this stage computes

  /// What the work runs on: the kind of device, then which one: "CPU (AMD EPYC, one core)".
  std::function<std::string()> device;

  /// Whether kernels run through CUDA on the CPU, so that times mean nothing about GPUs.
  bool cuda_on_cpu = false;

  /// Whether what kernels ask of memory is counted, by CUDA on the CPU in an instrumented program.
  bool counts_kernels = false;

  /// What the device can do at most in a precision; where kernels run on the CPU, a GPU that it
  /// names. Empty: unknown.
  std::function<DeviceLimits(bool in_double)> limits;

  /// @name For a stage that runs in several processes
  /// @{

  /// Not owned; null: there is but one.
  Ranks* ranks = nullptr;

  /// Whether, with these options, every rank is a worker, so that their number is given.
  std::function<bool(const StageOptions&)> ranks_are_workers;

  /// Where the ranks are and, if they train, how they work together: a line below the header; empty
  /// if there is none.
  std::function<std::string(const StageOptions&, bool trains)> describe_ranks;

  /// Called before data are loaded and the device is used. May be empty.
  std::function<void(const StageOptions&)> prepare;

  ProgramHooks hooks;

  /// @}

  /// Replaces values such as `auto` that depend on other options. May be empty.
  std::function<void(StageOptions&, const ModelOptions&, const WorkerOptions&, Index batch_size, int ranks)> settle;

  /// Throws UsageError for what it cannot train with these options. May be empty.
  std::function<void(const StageOptions&, const ModelOptions&, const WorkerOptions&)> check;

  /// Asked for its own options and for those that all stages have. May be empty.
  WhyIdle why_idle;

  InPrecision<float> in_float;
  InPrecision<double> in_double;

  /// Its own files, from the repository's root. Empty: there is no stage before it.
  std::string folder = {};

  OperationFiles files;  ///< where the lines of its programs are computed

  std::vector<Offers> offers;  ///< of all programs, the stages in their order

  /// Its own option of this name, which must exist.
  StageOption& option(const std::string& name) { return *std::ranges::find(options, name, &StageOption::name); }

  /// Libraries that the stage computes with, each with its version.
  std::function<std::vector<std::string>()> libraries;

  /// Whether this process prints and writes files.
  bool is_first_rank() const { return all_ranks().rank() == 0; }

  /// The ranks, or the only one.
  Ranks& all_ranks() const {
    static Ranks alone;
    return ranks != nullptr ? *ranks : alone;
  }

  /// How many workers there must be because every rank is one; 0: the user chooses.
  int workers_by_ranks(const StageOptions& values) const {
    return ranks_are_workers && ranks_are_workers(values) ? ranks->count() : 0;
  }

  template <typename T>
  const InPrecision<T>& in() const {
    if constexpr (sizeof(T) == sizeof(float)) {
      return in_float;
    } else {
      return in_double;
    }
  }
};

/// The whole program of a stage: `train`, `evaluate`, `predict` and `info`.
/// @return the exit code: 0 done, 1 a run-time failure, 2 wrong usage.
int run_stage(const Stage& stage, int argc, const char* const* argv);

/// Runs `body`, and adds the advice to a NotFinite that a kernel may have caused.
/// @param cuda_on_cpu whether kernels run through CUDA on the CPU; otherwise there is no advice.
int with_kernel_advice(bool cuda_on_cpu, const std::function<int()>& body);

/// Name of the processor, as the system gives it.
std::string processor_name();

}  // namespace stagewise
