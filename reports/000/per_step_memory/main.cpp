/// @file
/// Report 000's first version: stage 02's program with a step that keeps nothing on the GPU.

#include "02_naive_cuda/naive_cuda_executor.hpp"
#include "02_naive_cuda/offers.hpp"
#include "02_naive_cuda/operation_files.hpp"
#include "cli/gpu_stage.hpp"
#include "offers/all.hpp"
#include "reports/000/per_step_memory/per_step_memory.hpp"
#include "reports/offers.hpp"

namespace {

using namespace stagewise;

template <typename T>
std::unique_ptr<Executor<T>> make_executor(const StageOptions& options) {
  return std::make_unique<NaiveCudaExecutor<T>>(std::stoi(options.at("block-size")));
}

template <typename T>
std::unique_ptr<Step> make_step(const StepArguments<T>& arguments) {
  if (arguments.options.at("memory") == "once" || !is_plain(arguments.sgd)) return nullptr;
  return std::make_unique<PerStepMemory<T>>(
      arguments.setup.network, arguments.setup.training_set, arguments.sgd, arguments.starts.front(),
      [&options = arguments.options] { return make_executor<T>(options); }, arguments.setup.max_rows);
}

template <typename T>
InPrecision<T> in_precision() {
  return {.make_executor = make_executor<T>, .make_step = make_step<T>};
}

Stage describe_stage() {
  Stage stage = gpu_stage(with_options_of(per_step_memory_offers(), stage02_offers()));
  stage.option("block-size").default_choice = std::to_string(naive_cuda::default_block_size);
  stage.summary = "Stage 02, allocating, copying and freeing in every step.";
  stage.why_idle = [](const std::string& option, const StageOptions& /*values*/, const ModelOptions& /*model*/,
                      const WorkerOptions& /*workers*/, const Sgd& sgd) {
    return option == "memory" && !is_plain(sgd) ? "is for --optimizer sgd with a constant rate" : "";
  };
  stage.in_float = in_precision<float>();
  stage.in_double = in_precision<double>();
  stage.folder = "reports/000/per_step_memory/";
  stage.files = stage02_files();
  stage.offers = all_offers();
  return stage;
}

}  // namespace

int main(int argc, char** argv) { return stagewise::run_stage(describe_stage(), argc, argv); }
