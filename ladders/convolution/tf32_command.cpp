#include <type_traits>

#include "04_minibatch/fuse.hpp"
#include "04_minibatch/recorded_step.hpp"
#include "app/stage.hpp"
#include "convolution/commands.hpp"
#include "convolution/tf32_executor.hpp"
#include "cuda/device.hpp"
#include "latency/predictors.hpp"
#include "programs/gpu_limits.hpp"
#include "programs/offers.hpp"
#include "programs/operation_files.hpp"
#include "programs/step_options.hpp"
#include "tensor/error.hpp"
#include "tensor/option_error.hpp"

namespace stagewise::ladders {
namespace {

template <typename T>
std::unique_ptr<Executor<T>> make_executor(const StageOptions& options) {
  if constexpr (std::is_same_v<T, double>) {
    throw OptionError("TF32 rounds floats: it is for --precision float", {"precision"});
  } else {
    if (options.at("fuse") == "off") {
      throw OptionError("TF32 needs fused convolutions, and --fuse off leaves none", {"fuse"});
    }
    constexpr int least = 80;
    if (!cuda::runs_on_cpu() && cuda::compute_capability() < least) {
      throw Error("TF32 takes a GPU of compute capability 8.0 or higher");
    }
    return std::make_unique<Tf32Executor>();
  }
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
          .rewrite =
              [](const Program& program, const StageOptions& options, Index max_rows) {
                return minibatch::fuse<T>(program, max_rows, read_fuse_options(options));
              },
          .make_step = make_step<T>,
          .make_predictors = minibatch::make_predictors<T>};
}

Stage describe_stage() {
  Stage stage(stage04_offers());
  stage.program = "ladder tf32";
  stage.summary = "Stage 04 with convolutions whose factors are rounded to TF32.";
  stage.device = cuda::describe_device;
  stage.cuda_on_cpu = cuda::runs_on_cpu();
  stage.counts_kernels = cuda::counts_kernels();
  stage.limits = gpu_limits;
  stage.why_idle = why_idle_in_step;
  stage.in_float = in_precision<float>();
  stage.in_double = in_precision<double>();
  stage.folder = "ladders/convolution/";
  stage.files = stage04_files();
  stage.files["convolution_relu_pool"] = "ladders/convolution/tf32_convolution.cu";
  stage.files["convolution_backward"] = "ladders/convolution/tf32_convolution.cu";
  stage.offers = all_offers();
  stage.libraries = cuda::describe_libraries;
  return stage;
}

}  // namespace

int run_tf32(int argc, const char* const* argv) {
  return run_stage(describe_stage(), argc, argv);
}

}  // namespace stagewise::ladders
