/// @file
/// Stage 02's program: stage 01's operations, each as a kernel with one thread per element.

#include "02_naive_cuda/naive_cuda_executor.hpp"
#include "02_naive_cuda/offers.hpp"
#include "02_naive_cuda/operation_files.hpp"
#include "cli/gpu_stage.hpp"
#include "offers/all.hpp"

namespace {

using namespace stagewise;

template <typename T>
std::unique_ptr<Executor<T>> make_executor(const StageOptions& options) {
  return std::make_unique<NaiveCudaExecutor<T>>(std::stoi(options.at("block-size")));
}

Stage describe_stage() {
  Stage stage = gpu_stage(stage02_offers());
  stage.option("block-size").default_choice = std::to_string(naive_cuda::default_block_size);
  stage.summary = "Stage 02: one thread of the GPU per output element.";
  stage.in_float.make_executor = make_executor<float>;
  stage.in_double.make_executor = make_executor<double>;
  stage.folder = "stages/02_naive_cuda/";
  stage.files = stage02_files();
  stage.offers = all_offers();
  return stage;
}

}  // namespace

int main(int argc, char** argv) {
  return stagewise::run_stage(describe_stage(), argc, argv);
}
