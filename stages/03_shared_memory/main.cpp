/// @file
/// Stage 03's program: stage 02, with products, sums and convolutions that share what they load.

#include <algorithm>
#include <array>

#include "03_shared_memory/offers.hpp"
#include "03_shared_memory/operation_files.hpp"
#include "03_shared_memory/shared_memory_executor.hpp"
#include "cli/gpu_stage.hpp"
#include "offers/all.hpp"

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
  return std::make_unique<SharedMemoryExecutor<T>>(
      SharedMemoryOptions{.gemm = options.at("gemm"),
                          .reduce = options.at("reduce"),
                          .convolution = convolution_variant(options.at("convolution"))});
}

std::string why_idle(const std::string& option, const StageOptions& /*values*/,
                     const ModelOptions& model, const WorkerOptions& /*workers*/,
                     const Sgd& /*sgd*/) {
  if (option == "convolution" && model.name != "cnn") {
    return "is for --model cnn: " + model.name + " has no convolutions";
  }
  return "";
}

Stage describe_stage() {
  Stage stage = gpu_stage(stage03_offers());
  std::vector<std::string> products = names_of(shared_memory::gemm_ladder<float>());
  products.insert(products.begin(), "auto");
  stage.option("gemm").choices = std::move(products);
  stage.option("reduce").choices = names_of(shared_memory::column_sums_ladder<float>());
  stage.option("reduce").default_choice = shared_memory::default_reduce_rung;
  stage.option("convolution")
      .choices.assign(convolution_variants.begin(), convolution_variants.end());
  stage.summary = "Stage 03: tiles in shared memory and parallel reductions.";
  stage.why_idle = why_idle;
  stage.in_float.make_executor = make_executor<float>;
  stage.in_double.make_executor = make_executor<double>;
  stage.folder = "stages/03_shared_memory/";
  stage.files = stage03_files();
  stage.offers = all_offers();
  return stage;
}

}  // namespace

int main(int argc, char** argv) {
  return stagewise::run_stage(describe_stage(), argc, argv);
}
