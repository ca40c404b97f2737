/// @file
/// Stage 03's program.

#include <algorithm>
#include <array>

#include "03_shared_memory/shared_memory_executor.hpp"
#include "app/stage.hpp"
#include "cuda/device.hpp"
#include "fold_bias/fold_bias_executor.hpp"
#include "programs/gpu_limits.hpp"
#include "programs/offers.hpp"
#include "programs/operation_files.hpp"

namespace {

using namespace stagewise;

/// The names that `--convolution` accepts, in the order of ConvolutionVariant.
constexpr std::array convolution_variants = {"auto", "direct", "implicit"};

shared_memory::ConvolutionVariant convolution_variant(const std::string& name) {
  const auto found = std::find(convolution_variants.begin(), convolution_variants.end(), name);
  return static_cast<shared_memory::ConvolutionVariant>(found - convolution_variants.begin());
}

template <typename T>
std::unique_ptr<Executor<T>> make_executor(const StageOptions& options) {
  const SharedMemoryOptions kernels = {
      .gemm = options.at("gemm"),
      .reduce = options.at("reduce"),
      .convolution = convolution_variant(options.at("convolution"))};
  const std::string& fold_bias = options.at("fold-bias");
  if (fold_bias == "off") return std::make_unique<SharedMemoryExecutor<T>>(kernels);
  const bool is_in_place = fold_bias == "in-place";
  return std::make_unique<FoldBiasExecutor<T>>(
      kernels,
      is_in_place ? shared_memory::FoldBias::in_place : shared_memory::FoldBias::out_of_place);
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

std::string why_idle(const std::string& option, const StageOptions& /*values*/,
                     const ModelOptions& model, const WorkerOptions& /*workers*/,
                     const Sgd& /*sgd*/) {
  if (option == "convolution" && model.name != "cnn") {
    return "is for --model cnn: " + model.name + " has no convolutions";
  }
  if (option == "fold-bias" && !model.biases) return "needs biases, and --biases off leaves none";
  return "";
}

Stage describe_stage() {
  Stage stage(stage03_offers());
  std::vector<std::string> products = names_of(shared_memory::gemm_ladder<float>());
  products.insert(products.begin(), "auto");
  stage.option("gemm").choices = std::move(products);
  stage.option("reduce").choices = names_of(shared_memory::sum_ladder<float>());
  stage.option("reduce").default_choice = shared_memory::default_reduce_rung;
  stage.option("convolution")
      .choices.assign(convolution_variants.begin(), convolution_variants.end());
  stage.summary = "Stage 03: tiles in shared memory and parallel reductions.";
  stage.device = cuda::describe_device;
  stage.cuda_on_cpu = cuda::runs_on_cpu();
  stage.counts_kernels = cuda::counts_kernels();
  stage.limits = gpu_limits;
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
