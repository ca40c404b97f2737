/// @file
/// Stage 04's program.

#include "04_minibatch/captured_prediction.hpp"
#include "04_minibatch/captured_step.hpp"
#include "04_minibatch/persistent_prediction.hpp"
#include "app/stage.hpp"
#include "cuda/device.hpp"
#include "tensor/error.hpp"

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

/// @throws UsageError where no product could pick rows while it loads.
void check_gather_loads(const StageOptions& options, const ModelOptions& model) {
  if (options.at("stream-batches") == "on") {
    throw UsageError(
        "--gather loads is for a data set on the device, and --stream-batches leaves it on the "
        "host");
  }
  if (model.name == "cnn" || options.at("fuse") == "off") {
    throw UsageError(
        std::string("--gather loads needs a fused layer that reads the input, and ") +
        (model.name == "cnn" ? "the cnn begins with a convolution" : "--fuse off leaves none"));
  }
}

template <typename T>
std::unique_ptr<Step> make_step(const StepArguments<T>& arguments) {
  const std::string& gather = arguments.options.at("gather");
  if (gather == "loads") check_gather_loads(arguments.options, arguments.model);
  return std::make_unique<CapturedStep<T>>(
      arguments.network, backend_of(arguments.network), arguments.model, arguments.training_set,
      arguments.sgd, arguments.workers, arguments.starts, arguments.steps_done,
      CapturedStepOptions{.captures = arguments.options.at("capture") == "on",
                          .repeats = !arguments.timings,
                          .streams_batches = arguments.options.at("stream-batches") == "on",
                          .gather = gather == "loads"    ? GatherForm::loads
                                    : gather == "kernel" ? GatherForm::kernel
                                                         : GatherForm::automatic,
                          .fuses = arguments.options.at("fuse") == "on"});
}

template <typename T>
std::unique_ptr<Feeder<T>> make_feeder(Network<T>& network, const Dataset& dataset) {
  return std::make_unique<StreamedFeeder<T>>(network, backend_of(network), dataset);
}

std::vector<StageOption> options() {
  return {{.name = "stream-batches",
           .description = "copy batches while others are computed, instead of the whole data set",
           .choices = {"off", "on"},
           .default_choice = "off",
           .choice_without_value = "on",
           .only_trains = true},
          {.name = "gather",
           .description = "batches of a data set on the device: in the products' loads, or copied",
           .choices = {"auto", "loads", "kernel"},
           .default_choice = "auto",
           .only_trains = true},
          {.name = "fuse",
           .description = "one kernel for a layer, or stage 03's",
           .choices = {"on", "off"},
           .default_choice = "on"},
          {.name = "capture",
           .description = "record steps as CUDA graphs, or launch each kernel anew",
           .choices = {"on", "off"},
           .default_choice = "on",
           .only_trains = true,
           .changes_no_number = true}};
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
  stage.options = options();
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
