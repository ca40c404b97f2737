/// @file
/// Report 003's layers: stage 03's program with each bias as a further row of the weights.

#include <utility>

#include "03_shared_memory/operation_files.hpp"
#include "cli/gpu_stage.hpp"
#include "offers/all.hpp"
#include "reports/003/fold_bias/fold_bias_executor.hpp"
#include "reports/offers.hpp"

namespace {

using namespace stagewise;

bool folds(const StageOptions& options) { return options.at("fold-bias") != "off"; }

template <typename T>
std::unique_ptr<Executor<T>> make_executor(const StageOptions& options) {
  if (!folds(options)) return std::make_unique<SharedMemoryExecutor<T>>();
  const bool is_in_place = options.at("fold-bias") == "in-place";
  return std::make_unique<FoldBiasExecutor<T>>(SharedMemoryOptions(),
                                               is_in_place ? FoldBias::in_place : FoldBias::out_of_place);
}

Program rewrite(const Program& program, const StageOptions& options, Index /*max_rows*/) {
  return folds(options) ? fold_biases(program) : program;
}

Stage describe_stage() {
  Stage stage = gpu_stage(fold_bias_offers());
  stage.summary = "Stage 03 with biases as rows of the weights.";
  stage.why_idle = [](const std::string& option, const StageOptions& /*values*/, const ModelOptions& model,
                      const auto&... /*others*/) {
    return option == "fold-bias" && !model.biases ? "needs biases, and --biases off leaves none" : "";
  };
  stage.in_float = {.make_executor = make_executor<float>, .rewrite = rewrite};
  stage.in_double = {.make_executor = make_executor<double>, .rewrite = rewrite};
  stage.folder = "reports/003/fold_bias/";
  stage.files = stage03_files();
  stage.files["folded_linear"] = "reports/003/fold_bias/fold_bias_executor.cpp";
  stage.files["folded_gradients"] = "reports/003/fold_bias/fold_bias_executor.cpp";
  stage.offers = all_offers();
  return stage;
}

}  // namespace

int main(int argc, char** argv) { return stagewise::run_stage(describe_stage(), argc, argv); }
