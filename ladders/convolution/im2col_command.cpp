#include "03_shared_memory/reduce.hpp"
#include "app/stage.hpp"
#include "convolution/commands.hpp"
#include "convolution/im2col_executor.hpp"
#include "cuda/device.hpp"
#include "programs/gpu_limits.hpp"
#include "programs/offers.hpp"
#include "programs/operation_files.hpp"

namespace stagewise::ladders {
namespace {

template <typename T>
std::unique_ptr<Executor<T>> make_executor(const StageOptions& options) {
  return std::make_unique<Im2colExecutor<T>>(
      SharedMemoryOptions{.gemm = options.at("gemm"), .reduce = options.at("reduce")});
}

template <typename Problem>
std::vector<std::string> names_of(shared_memory::Ladder<Problem> ladder) {
  std::vector<std::string> names;
  for (const auto& rung : ladder) names.emplace_back(rung.name);
  return names;
}

Stage describe_stage() {
  Stage stage(stage03_offers());
  stage.program = "ladder im2col";
  std::erase_if(stage.options, [](const StageOption& option) {
    return option.name != "gemm" && option.name != "reduce";
  });
  stage.option("gemm").choices = names_of(shared_memory::gemm_ladder<float>());
  stage.option("gemm").choices.insert(stage.option("gemm").choices.begin(), "auto");
  stage.option("reduce").choices = names_of(shared_memory::sum_ladder<float>());
  stage.option("reduce").default_choice = shared_memory::default_reduce_rung;
  stage.summary = "Stage 03 with convolutions as products of stored matrices: im2col.";
  stage.device = cuda::describe_device;
  stage.cuda_on_cpu = cuda::runs_on_cpu();
  stage.counts_kernels = cuda::counts_kernels();
  stage.limits = gpu_limits;
  stage.in_float = {.make_executor = make_executor<float>};
  stage.in_double = {.make_executor = make_executor<double>};
  stage.folder = "ladders/convolution/";
  stage.files = stage03_files();
  stage.files["convolution"] = "ladders/convolution/1_im2col.cu";
  stage.files["convolution_backward"] = "ladders/convolution/2_col2im.cu";
  stage.offers = all_offers();
  stage.libraries = cuda::describe_libraries;
  return stage;
}

}  // namespace

int run_im2col(int argc, const char* const* argv) {
  return run_stage(describe_stage(), argc, argv);
}

}  // namespace stagewise::ladders
