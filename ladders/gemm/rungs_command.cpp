#include "03_shared_memory/offers.hpp"
#include "03_shared_memory/operation_files.hpp"
#include "03_shared_memory/shared_memory_executor.hpp"
#include "cli/gpu_stage.hpp"
#include "ladders/convolution/im2col_executor.hpp"
#include "ladders/gemm/gemm.hpp"
#include "ladders/program/commands.hpp"
#include "offers/all.hpp"

namespace stagewise {
namespace {

template <typename T>
std::unique_ptr<Executor<T>> make_executor(const StageOptions& options) {
  using shared_memory::ConvolutionVariant;
  const std::string& convolution = options.at("convolution");
  SharedMemoryOptions kernels = {.gemm = options.at("gemm"), .reduce = options.at("reduce")};
  if (convolution == "im2col") {
    return std::make_unique<Im2colExecutor<T>>(kernels, ladder::gemm_ladder<T>());
  }
  if (convolution == "direct") kernels.convolution = ConvolutionVariant::direct;
  if (convolution == "implicit") kernels.convolution = ConvolutionVariant::implicit;
  return std::make_unique<SharedMemoryExecutor<T>>(kernels, ladder::gemm_ladder<T>());
}

Stage describe_stage() {
  Stage stage = gpu_stage(stage03_offers());
  stage.program = "ladder rungs";
  std::vector<std::string> products = names_of(ladder::gemm_ladder<float>());
  products.insert(products.begin(), "auto");
  stage.option("gemm").choices = std::move(products);
  stage.option("reduce").choices = names_of(shared_memory::column_sums_ladder<float>());
  stage.option("reduce").default_choice = shared_memory::default_reduce_rung;
  stage.option("convolution").choices = {"auto", "direct", "im2col", "implicit"};
  stage.summary = "Stage 03 with every rung of the ladders.";
  stage.why_idle = [](const std::string& option, const StageOptions& /*values*/, const ModelOptions& model,
                      const auto&... /*others*/) {
    return option == "convolution" && model.name != "cnn" ? "is for --model cnn: " + model.name + " has no convolutions"
                                                          : "";
  };
  stage.in_float.make_executor = make_executor<float>;
  stage.in_double.make_executor = make_executor<double>;
  stage.folder = "ladders/";
  stage.files = stage03_files();
  stage.offers = all_offers();
  return stage;
}

}  // namespace

int run_rungs(int argc, char** argv) { return run_stage(describe_stage(), argc, argv); }

}  // namespace stagewise
