/// @file
/// Stage 04's program: whole minibatches on the device, in fused kernels and recorded steps.

#include "04_minibatch/offers.hpp"
#include "04_minibatch/operation_files.hpp"
#include "04_minibatch/recorded_prediction.hpp"
#include "04_minibatch/step_options.hpp"
#include "cli/gpu_stage.hpp"
#include "offers/all.hpp"

namespace {

using namespace stagewise;

template <typename T>
std::unique_ptr<Executor<T>> make_executor(const StageOptions& /*options*/) {
  return std::make_unique<MinibatchExecutor<T>>();
}

template <typename T>
InPrecision<T> in_precision() {
  return {.make_executor = make_executor<T>,
          .rewrite = fuse_as_chosen<T>,
          .make_step = make_recorded_step<T>,
          .make_predictors = minibatch::make_predictors<T>};
}

Stage describe_stage() {
  Stage stage = gpu_stage(stage04_offers());
  stage.summary = "Stage 04: whole minibatches on the device, fused kernels, recorded steps.";
  stage.why_idle = why_idle_in_step;
  stage.in_float = in_precision<float>();
  stage.in_double = in_precision<double>();
  stage.folder = "stages/04_minibatch/";
  stage.files = stage04_files();
  stage.offers = all_offers();
  return stage;
}

}  // namespace

int main(int argc, char** argv) {
  return stagewise::run_stage(describe_stage(), argc, argv);
}
