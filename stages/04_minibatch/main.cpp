/// @file
/// Stage 04's program.

#include "04_minibatch/captured_prediction.hpp"
#include "04_minibatch/persistent_prediction.hpp"
#include "04_minibatch/step_options.hpp"
#include "app/stage.hpp"
#include "cuda/device.hpp"

namespace {

using namespace stagewise;

template <typename T>
MinibatchBackend<T>& backend_of(Network<T>& network) {
  return dynamic_cast<MinibatchBackend<T>&>(network.graph.backend());
}

template <typename T>
std::unique_ptr<Backend<T>> make_backend(const StageOptions& options) {
  return std::make_unique<MinibatchBackend<T>>(options.at("fuse") == "on");
}

template <typename T>
std::unique_ptr<Step> make_step(const StepArguments<T>& arguments) {
  return std::make_unique<CapturedStep<T>>(
      arguments.network, backend_of(arguments.network), arguments.model, arguments.training_set,
      arguments.sgd, arguments.workers, arguments.starts, arguments.steps_done,
      read_step_options(arguments.options, arguments.model, arguments.timings));
}

template <typename T>
std::unique_ptr<Feeder<T>> make_feeder(Network<T>& network, const Dataset& dataset) {
  return std::make_unique<StreamedFeeder<T>>(network, backend_of(network), dataset);
}

template <typename T>
std::vector<std::unique_ptr<Predictor<T>>> make_predictors(Network<T>& network) {
  std::vector<std::unique_ptr<Predictor<T>>> predictors;
  predictors.push_back(std::make_unique<minibatch::CapturedPrediction<T>>(
      network, backend_of(network).own_stream()));
  // Last: while its kernel runs, nothing must wait for the whole GPU.
  if (auto persistent = minibatch::make_persistent_prediction(network)) {
    predictors.push_back(std::move(persistent));
  }
  return predictors;
}

Stage describe_stage() {
  const std::string naive = "stages/02_naive_cuda/";
  const std::string shared = "stages/03_shared_memory/";
  const std::string folder = "stages/04_minibatch/";
  Stage stage;
  stage.program = "stage04_minibatch";
  stage.summary = "Stage 04: whole minibatches on the device, fused kernels, recorded steps.";
  stage.device = cuda::describe_device;
  stage.cuda_on_cpu = cuda::runs_on_cpu();
  stage.has_workers = true;
  stage.options = step_options();
  stage.why_idle = [](const std::string& option, const StageOptions& values,
                      const ModelOptions& model, const WorkerOptions& /*workers*/) {
    return why_idle_in_step(option, values, model);
  };
  stage.make_float_backend = make_backend<float>;
  stage.make_double_backend = make_backend<double>;
  stage.make_float_step = make_step<float>;
  stage.make_double_step = make_step<double>;
  stage.make_float_feeder = make_feeder<float>;
  stage.make_double_feeder = make_feeder<double>;
  stage.make_float_predictors = make_predictors<float>;
  stage.make_double_predictors = make_predictors<double>;
  stage.primitives = {
      {"batch (gather)", folder + "gather.cu, linear/loaders.cuh"},
      {"linear, linear_backward", folder + "linear.cu, linear/*"},
      {"..., bias gradient and update", folder + "linear/loaders.cuh, epilogues.cuh"},
      {"last layer, loss, both ways", folder + "output_layer.cu"},
      {"loss, its gradient, totals", folder + "loss.cu"},
      {"convolution_relu_pool", folder + "convolution.cu, convolution/*"},
      {"mean of the workers, update", folder + "update.cu"},
      {"gemm", shared + "gemm.cu, gemm/*"},
      {"convolution_backward", shared + "convolution.cu, convolution/*"},
      {"sum, sum_rows (--fuse off)", shared + "reduce.cu, reduce/*"},
      {"transpose", shared + "transpose.cu, transpose/*"},
      {"softmax_cross_entropy (evaluation)", shared + "loss.cu"},
      {"squared_error (evaluation)", shared + "loss.cu"},
      {"accumulate (evaluation)", shared + "reduce.cu, reduce/*"},
      {"argmax, threshold (evaluation)", naive + "predict.cu"},
      {"add_bias, relu, sigmoid, backwards", naive + "elementwise.cu"},
      {"average_pool, ..._backward", naive + "average_pool.cu"},
      {"sgd_update (convolutions)", naive + "update.cu"}};
  stage.libraries = cuda::describe_libraries;
  return stage;
}

}  // namespace

int main(int argc, char** argv) {
  return stagewise::run_stage(describe_stage(), argc, argv);
}
