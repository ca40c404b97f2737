#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "04_minibatch/offers.hpp"
#include "04_minibatch/operation_files.hpp"
#include "04_minibatch/step_options.hpp"
#include "cli/gpu_stage.hpp"
#include "ladders/offers.hpp"
#include "ladders/persistent/latency/predictors.hpp"
#include "ladders/persistent/training/persistent_training.hpp"
#include "ladders/program/commands.hpp"
#include "offers/all.hpp"

namespace stagewise {
namespace {

using minibatch::persistent::Choice;

std::string why_not_persistent(const StageOptions& values, const ModelOptions& model, const WorkerOptions& workers,
                               const Sgd& sgd) {
  if (!is_plain(sgd)) return "is for --optimizer sgd with a constant rate";
  if (model.name != "mlp" || model.hidden.size() != 1) {
    return "is for --model mlp with one hidden layer";
  }
  if (workers.workers > 1) return "is for one worker: several exchange gradients in every step";
  if (values.at("stream-batches") == "on") {
    return "is for a data set on the device, and --stream-batches leaves it on the host";
  }
  if (values.at("fuse") == "off") return "needs fused layers, and --fuse off leaves none";
  if (values.at("fuse") != "on") {
    return "is for a whole step as one kernel, and --fuse " + values.at("fuse") + " fuses less";
  }
  if (values.at("gather") == "kernel") {
    return "is for a kernel that picks its batches itself, and --gather kernel leaves that to "
           "another";
  }
  return "";
}

Choice choice_of(const StageOptions& values) {
  const std::string& choice = values.at("persistent");
  if (choice == "on") return Choice::always;
  return choice == "off" ? Choice::never : Choice::automatic;
}

template <typename T>
std::unique_ptr<Executor<T>> make_executor(const StageOptions& /*options*/) {
  return std::make_unique<PersistentExecutor<T>>();
}

/// The whole step as one line, if there is a kernel for it.
/// @throws Error if it is asked for, and the network is too large.
template <typename T>
std::optional<Program> persistent_step(const Program& step, const ModelOptions& model, const Sgd& sgd,
                                       const WorkerOptions& workers, const StageOptions& options, Index max_rows) {
  if (!why_not_persistent(options, model, workers, sgd).empty()) return std::nullopt;
  return minibatch::persistent::as_persistent_step<T>(step, max_rows, choice_of(options));
}

template <typename T>
std::unique_ptr<Step> make_step(const StepArguments<T>& arguments) {
  const StepSetup<T>& setup = arguments.setup;
  TrainingPrograms training = build_training(setup.network.model, arguments.sgd, setup.workers);
  auto step = persistent_step<T>(training.step, arguments.model, arguments.sgd, setup.workers, arguments.options,
                                 setup.max_rows);
  if (!step) return make_recorded_step(arguments);
  training.step = *std::move(step);
  return std::make_unique<PersistentTraining<T>>(setup, static_cast<PersistentExecutor<T>&>(*setup.network.executor),
                                                 std::move(training), arguments.starts);
}

/// What `info` shows.
template <typename T>
Program step_program(const Model& model, const ModelOptions& described, const Sgd& sgd, const WorkerOptions& workers,
                     const StageOptions& options, Index max_rows) {
  const Program step = build_training(model, sgd, workers).step;
  auto persistent = persistent_step<T>(step, described, sgd, workers, options, max_rows);
  return persistent ? *std::move(persistent) : fuse_as_chosen<T>(step, options, max_rows);
}

template <typename T>
InPrecision<T> in_precision() {
  return {.make_executor = make_executor<T>,
          .rewrite = fuse_as_chosen<T>,
          .make_step = make_step<T>,
          .step_program = step_program<T>,
          .make_predictors = minibatch::make_all_predictors<T>};
}

Stage describe_stage() {
  Stage stage = gpu_stage(with_options_of(persistent_offers(), stage04_offers()));
  stage.summary = "Stage 04 with kernels that stay on the GPU.";
  stage.why_idle = [](const std::string& option, const StageOptions& values, const ModelOptions& model,
                      const WorkerOptions& workers, const Sgd& sgd) {
    return option == "persistent" ? why_not_persistent(values, model, workers, sgd)
                                  : why_idle_in_step(option, values, model, workers, sgd);
  };
  stage.in_float = in_precision<float>();
  stage.in_double = in_precision<double>();
  stage.folder = "ladders/persistent/";
  stage.files = stage04_files();
  stage.files["persistent_step"] = "ladders/persistent/training/mlp_steps.cu";
  stage.offers = all_offers();
  return stage;
}

}  // namespace

int run_persistent(int argc, char** argv) { return run_stage(describe_stage(), argc, argv); }

}  // namespace stagewise
