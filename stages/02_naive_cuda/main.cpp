/// @file
/// Stage 02's program.

#include "02_naive_cuda/naive_cuda_backend.hpp"
#include "02_naive_cuda/per_step_memory.hpp"
#include "app/stage.hpp"
#include "cuda/device.hpp"

namespace {

using namespace stagewise;

template <typename T>
std::unique_ptr<Backend<T>> make_backend(const StageOptions& options) {
  return std::make_unique<NaiveCudaBackend<T>>(std::stoi(options.at("block-size")));
}

/// The experiment instead of the ordinary step, where it was asked for.
template <typename T>
std::unique_ptr<Step> make_step(const StepArguments<T>& arguments) {
  if (arguments.options.at("memory") == "once") return nullptr;
  return std::make_unique<PerStepMemory<T>>(arguments.network, arguments.model,
                                            arguments.training_set, arguments.sgd);
}

Stage describe_stage() {
  const std::string folder = "stages/02_naive_cuda/";
  Stage stage;
  stage.program = "stage02_naive_cuda";
  stage.summary = "Stage 02: one thread of the GPU per output element.";
  stage.device = cuda::describe_device;
  stage.cuda_on_cpu = cuda::runs_on_cpu();
  stage.options = {{.name = "block-size",
                    .description = "side of the blocks of threads that multiply matrices",
                    .choices = {"4", "8", "16", "32"},
                    .default_choice = std::to_string(naive_cuda::default_block_size)},
                   {.name = "memory",
                    .description = "allocate once, or allocate, copy and free per step",
                    .choices = {"once", "per-step"},
                    .default_choice = "once",
                    .only_trains = true}};
  stage.make_float_backend = make_backend<float>;
  stage.make_double_backend = make_backend<double>;
  stage.make_float_step = make_step<float>;
  stage.make_double_step = make_step<double>;
  stage.primitives = {{"gemm", folder + "gemm.cu"},
                      {"add_bias", folder + "elementwise.cu"},
                      {"relu, relu_backward", folder + "elementwise.cu"},
                      {"sigmoid, sigmoid_backward", folder + "elementwise.cu"},
                      {"transpose", folder + "transpose.cu"},
                      {"sum, sum_rows (bias gradient)", folder + "reduce.cu"},
                      {"softmax_cross_entropy, ..._backward", folder + "loss.cu"},
                      {"squared_error, ..._backward", folder + "loss.cu"},
                      {"accumulate", folder + "loss.cu"},
                      {"argmax, threshold", folder + "predict.cu"},
                      {"convolution, convolution_backward", folder + "convolution.cu"},
                      {"average_pool, ..._backward", folder + "average_pool.cu"},
                      {"sgd_update", folder + "update.cu"},
                      {"linear, linear_backward", "common/backend/backend.cpp"},
                      {"convolution_relu_pool", "common/backend/backend.cpp"}};
  stage.libraries = cuda::describe_libraries;
  return stage;
}

}  // namespace

int main(int argc, char** argv) {
  return stagewise::run_stage(describe_stage(), argc, argv);
}
