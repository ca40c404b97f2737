/// @file
/// Stage 02's program.

#include "02_naive_cuda/naive_cuda_executor.hpp"
#include "app/stage.hpp"
#include "cuda/device.hpp"
#include "per_step_memory/per_step_memory.hpp"
#include "programs/gpu_limits.hpp"
#include "programs/offers.hpp"
#include "programs/operation_files.hpp"

namespace {

using namespace stagewise;

template <typename T>
std::unique_ptr<Executor<T>> make_executor(const StageOptions& options) {
  return std::make_unique<NaiveCudaExecutor<T>>(std::stoi(options.at("block-size")));
}

/// The experiment instead of the ordinary step, if requested.
template <typename T>
std::unique_ptr<Step> make_step(const StepArguments<T>& arguments) {
  if (arguments.options.at("memory") == "once") return nullptr;
  return std::make_unique<PerStepMemory<T>>(
      arguments.setup.network, arguments.setup.training_set, arguments.sgd,
      arguments.starts.front(),
      [&options = arguments.options] { return make_executor<T>(options); },
      arguments.setup.max_rows);
}

template <typename T>
InPrecision<T> in_precision() {
  return {.make_executor = make_executor<T>, .make_step = make_step<T>};
}

Stage describe_stage() {
  Stage stage(stage02_offers());
  stage.option("block-size").default_choice = std::to_string(naive_cuda::default_block_size);
  stage.summary = "Stage 02: one thread of the GPU per output element.";
  stage.device = cuda::describe_device;
  stage.cuda_on_cpu = cuda::runs_on_cpu();
  stage.counts_kernels = cuda::counts_kernels();
  stage.limits = gpu_limits;
  stage.why_idle = [](const std::string& option, const StageOptions& /*values*/,
                      const ModelOptions& /*model*/, const WorkerOptions& /*workers*/,
                      const Sgd& sgd) {
    return option == "memory" && !is_plain(sgd) ? "is for --optimizer sgd with a constant rate"
                                                : "";
  };
  stage.in_float = in_precision<float>();
  stage.in_double = in_precision<double>();
  stage.folder = "stages/02_naive_cuda/";
  stage.files = stage02_files();
  stage.offers = all_offers();
  stage.libraries = cuda::describe_libraries;
  return stage;
}

}  // namespace

int main(int argc, char** argv) {
  return stagewise::run_stage(describe_stage(), argc, argv);
}
