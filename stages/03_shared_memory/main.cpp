/// @file
/// Stage 03's program.

#include "03_shared_memory/ladder_commands.hpp"
#include "03_shared_memory/shared_memory_backend.hpp"
#include "app/stage.hpp"
#include "cuda/device.hpp"

namespace {

using namespace stagewise;

template <typename T>
std::unique_ptr<Backend<T>> make_backend(const StageOptions& options) {
  return std::make_unique<SharedMemoryBackend<T>>(SharedMemoryOptions{
      .gemm = options.at("gemm"),
      .reduce = options.at("reduce"),
      .convolution = shared_memory::parse_convolution_form(options.at("convolution")),
      .fold_bias = shared_memory::parse_fold_bias(options.at("fold-bias"))});
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
           .choices = shared_memory::fold_bias_names(),
           .default_choice = "off",
           .choice_without_value = "in-place"}};
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
  const std::string before = "stages/02_naive_cuda/";
  const std::string folder = "stages/03_shared_memory/";
  Stage stage;
  stage.program = "stage03_shared_memory";
  stage.summary = "Stage 03: tiles in shared memory and parallel reductions.";
  stage.device = cuda::describe_device;
  stage.cuda_on_cpu = cuda::runs_on_cpu();
  stage.options = options();
  stage.why_idle = why_idle;
  stage.ladders = shared_memory::ladder_commands();
  stage.make_float_backend = make_backend<float>;
  stage.make_double_backend = make_backend<double>;
  stage.primitives = {
      {"gemm", folder + "gemm.cu, gemm/*"},
      {"add_bias", before + "elementwise.cu"},
      {"relu, relu_backward", before + "elementwise.cu"},
      {"sigmoid, sigmoid_backward", before + "elementwise.cu"},
      {"transpose", folder + "transpose.cu, transpose/*"},
      {"sum, sum_rows (bias gradient)", folder + "reduce.cu, reduce/*"},
      {"softmax_cross_entropy", folder + "loss.cu"},
      {"softmax_cross_entropy_backward", before + "loss.cu"},
      {"squared_error", folder + "loss.cu"},
      {"squared_error_backward", before + "loss.cu"},
      {"accumulate", folder + "reduce.cu, reduce/*"},
      {"argmax, threshold", before + "predict.cu"},
      {"convolution, convolution_backward", folder + "convolution.cu, convolution/*"},
      {"average_pool, ..._backward", before + "average_pool.cu"},
      {"sgd_update", before + "update.cu"},
      {"linear, linear_backward", "common/backend/backend.cpp"},
      {"..., with --fold-bias", folder + "fold_bias.cpp, shift.cu"},
      {"convolution_relu_pool", "common/backend/backend.cpp"}};
  stage.libraries = cuda::describe_libraries;
  return stage;
}

}  // namespace

int main(int argc, char** argv) {
  return stagewise::run_stage(describe_stage(), argc, argv);
}
