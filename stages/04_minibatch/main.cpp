/// @file
/// Stage 04's program.

#include "04_minibatch/captured_prediction.hpp"
#include "04_minibatch/minibatch_backend.hpp"
#include "04_minibatch/persistent_prediction.hpp"
#include "app/stage.hpp"
#include "cuda/device.hpp"

namespace {

using namespace stagewise;

template <typename T>
std::unique_ptr<Backend<T>> make_backend(const StageOptions& /*options*/) {
  return std::make_unique<MinibatchBackend<T>>();
}

template <typename T>
std::vector<std::unique_ptr<Predictor<T>>> make_predictors(Network<T>& network) {
  const auto& backend = static_cast<MinibatchBackend<T>&>(network.graph.backend());
  std::vector<std::unique_ptr<Predictor<T>>> predictors;
  predictors.push_back(
      std::make_unique<minibatch::CapturedPrediction<T>>(network, backend.own_stream()));
  // Last: while its kernel runs, nothing must wait for the whole GPU.
  if (auto persistent = minibatch::make_persistent_prediction(network)) {
    predictors.push_back(std::move(persistent));
  }
  return predictors;
}

Stage describe_stage() {
  const std::string naive = "stages/02_naive_cuda/";
  const std::string shared = "stages/03_shared_memory/";
  Stage stage;
  stage.program = "stage04_minibatch";
  stage.summary = "Stage 04: a whole minibatch at once, fused kernels and recorded steps.";
  stage.device = cuda::describe_device;
  stage.cuda_on_cpu = cuda::runs_on_cpu();
  stage.make_float_backend = make_backend<float>;
  stage.make_double_backend = make_backend<double>;
  stage.make_float_predictors = make_predictors<float>;
  stage.make_double_predictors = make_predictors<double>;
  stage.primitives = {{"gemm", shared + "gemm.cu, gemm/*"}, {"sgd_update", naive + "update.cu"}};
  stage.libraries = cuda::describe_libraries;
  return stage;
}

}  // namespace

int main(int argc, char** argv) {
  return stagewise::run_stage(describe_stage(), argc, argv);
}
