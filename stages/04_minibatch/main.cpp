/// @file
/// Stage 04's program: whole minibatches on the device, in fused kernels and recorded steps.

#include "04_minibatch/fuse/fuse.hpp"
#include "04_minibatch/offers.hpp"
#include "04_minibatch/operation_files.hpp"
#include "04_minibatch/recorded_prediction.hpp"
#include "04_minibatch/step_options.hpp"
#include "app/gpu_stage.hpp"
#include "offers/all.hpp"

namespace {

using namespace stagewise;

template <typename T>
std::unique_ptr<Executor<T>> make_executor(const StageOptions& /*options*/) {
  return std::make_unique<MinibatchExecutor<T>>();
}

template <typename T>
Program rewrite(const Program& program, const StageOptions& options, Index max_rows) {
  return minibatch::fuse<T>(program, max_rows, read_fuse_options(options));
}

template <typename T>
std::unique_ptr<Step> make_step(const StepArguments<T>& arguments) {
  const StepSetup<T>& setup = arguments.setup;
  StepPrograms programs = step_programs(setup.network.model);
  programs.training = build_training(setup.network.model, arguments.sgd, setup.workers);
  return std::make_unique<RecordedStep<T>>(
      setup, static_cast<MinibatchExecutor<T>&>(*setup.network.executor), setup.training_set.size(),
      programs, arguments.starts, read_step_options(arguments.options, arguments.timings));
}

template <typename T>
InPrecision<T> in_precision() {
  return {.make_executor = make_executor<T>,
          .rewrite = rewrite<T>,
          .make_step = make_step<T>,
          .make_predictors = minibatch::make_predictors<T>};
}

Stage describe_stage() {
  Stage stage = gpu_stage(stage04_offers());
  stage.summary = "Stage 04: whole minibatches on the device, fused kernels, recorded steps.";
  stage.why_idle = why_idle_in_step;
  stage.in_float = in_precision<float>();
  stage.in_double = in_precision<double>();
  stage.folder = "stages/04_minibatch/";
  stage.files = stage04_files();
  stage.offers = all_offers();
  return stage;
}

}  // namespace

int main(int argc, char** argv) {
  return stagewise::run_stage(describe_stage(), argc, argv);
}
