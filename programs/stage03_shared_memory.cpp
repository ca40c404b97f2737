/// @file
/// Stage 03's program.

#include "03_shared_memory/shared_memory_executor.hpp"
#include "app/stage.hpp"
#include "cuda/device.hpp"
#include "fold_bias/fold_bias_executor.hpp"
#include "programs/offers.hpp"
#include "programs/operation_files.hpp"

namespace {

using namespace stagewise;

template <typename T>
std::unique_ptr<Executor<T>> make_executor(const StageOptions& options) {
  const SharedMemoryOptions kernels = {
      .gemm = options.at("gemm"),
      .reduce = options.at("reduce"),
      .convolution = shared_memory::parse_convolution_form(options.at("convolution"))};
  const std::string& fold_bias = options.at("fold-bias");
  if (fold_bias == "off") return std::make_unique<SharedMemoryExecutor<T>>(kernels);
  return std::make_unique<FoldBiasExecutor<T>>(kernels, shared_memory::parse_fold_bias(fold_bias));
}

Program rewrite(const Program& program, const StageOptions& options, Index /*max_rows*/) {
  return options.at("fold-bias") == "off" ? program : shared_memory::fold_biases(program);
}

template <typename Problem>
std::vector<std::string> names_of(shared_memory::Ladder<Problem> ladder) {
  std::vector<std::string> names;
  for (const auto& rung : ladder) names.emplace_back(rung.name);
  return names;
}

std::vector<StageOption> options() {
  std::vector<std::string> products = names_of(shared_memory::gemm_ladder<float>());
  products.insert(products.begin(), "auto");
  std::vector<std::string> folds = shared_memory::fold_bias_names();
  folds.insert(folds.begin(), "off");
  return {{.name = "gemm",
           .description = "rung that multiplies matrices",
           .choices = std::move(products),
           .default_choice = "auto"},
          {.name = "reduce",
           .description = "rung that adds up",
           .choices = names_of(shared_memory::sum_ladder<float>()),
           .default_choice = std::string(shared_memory::default_reduce_rung)},
          {.name = "convolution",
           .description = "by stage 02's kernels, or as a product",
           .choices = shared_memory::convolution_form_names(),
           .default_choice = "auto"},
          {.name = "fold-bias",
           .description = "make the bias a row of the weights, the input's ones put in",
           .choices = std::move(folds),
           .default_choice = "off",
           .choice_without_value = "in-place",
           .changes_program = true}};
}

std::string why_idle(const std::string& option, const StageOptions& /*values*/,
                     const ModelOptions& model, const WorkerOptions& /*workers*/) {
  if (option == "convolution" && model.name != "cnn") {
    return "is for --model cnn: " + model.name + " has no convolutions";
  }
  if (option == "fold-bias" && !model.biases) return "needs biases, and --biases off leaves none";
  return "";
}

Stage describe_stage() {
  Stage stage;
  stage.program = "stage03_shared_memory";
  stage.summary = "Stage 03: tiles in shared memory and parallel reductions.";
  stage.device = cuda::describe_device;
  stage.cuda_on_cpu = cuda::runs_on_cpu();
  stage.options = options();
  stage.why_idle = why_idle;
  stage.in_float = {.make_executor = make_executor<float>, .rewrite = rewrite};
  stage.in_double = {.make_executor = make_executor<double>, .rewrite = rewrite};
  stage.folder = "stages/03_shared_memory/";
  stage.files = stage03_files();
  stage.offers = all_offers();
  stage.libraries = cuda::describe_libraries;
  return stage;
}

}  // namespace

int main(int argc, char** argv) {
  return stagewise::run_stage(describe_stage(), argc, argv);
}
