/// @file
/// Stage 04's program.

#include "04_minibatch/minibatch_backend.hpp"
#include "app/stage.hpp"
#include "cuda/device.hpp"

namespace {

using namespace stagewise;

template <typename T>
std::unique_ptr<Backend<T>> make_backend(const StageOptions& /*options*/) {
  return std::make_unique<MinibatchBackend<T>>();
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
  stage.primitives = {{"gemm", shared + "gemm.cu, gemm/*"}, {"sgd_update", naive + "update.cu"}};
  stage.libraries = cuda::describe_libraries;
  return stage;
}

}  // namespace

int main(int argc, char** argv) {
  return stagewise::run_stage(describe_stage(), argc, argv);
}
