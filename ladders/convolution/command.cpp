#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "03_shared_memory/kernels.hpp"
#include "04_minibatch/minibatch_executor.hpp"
#include "04_minibatch/offers.hpp"
#include "04_minibatch/operation_files.hpp"
#include "04_minibatch/step_options.hpp"
#include "cli/gpu_stage.hpp"
#include "ladders/convolution/tf32_convolution.hpp"
#include "ladders/offers.hpp"
#include "ladders/persistent/latency/predictors.hpp"
#include "ladders/program/commands.hpp"
#include "offers/all.hpp"
#include "tensor/option_error.hpp"

namespace stagewise {
namespace {

/// Why convolutions cannot be rounded; nothing if they can.
std::optional<OptionError> obstacle(const StageOptions& options, bool is_double) {
  if (is_double) {
    return OptionError("--math tf32 rounds floats: it is for --precision float", {"math", "precision"});
  }
  if (options.at("fuse") == "off") {
    return OptionError("--math tf32 needs fused convolutions, and --fuse off leaves none", {"math", "fuse"});
  }
  constexpr int least = 80;
  if (cuda::runs_on_cpu() || cuda::compute_capability() >= least) return std::nullopt;
  return OptionError("--math tf32 takes a GPU of compute capability 8.0 or higher", {"math"});
}

/// Stage 04, except that it refuses networks with convolutions.
template <typename T>
class WithoutConvolutions final : public MinibatchExecutor<T> {
 public:
  explicit WithoutConvolutions(OptionError reason) : reason_(std::move(reason)) {}

 private:
  void prepare(const Program& program) override {
    for (const Line& line : program.lines) {
      if (is_a<Convolution, ConvolutionReluPool>(line.operation)) throw reason_;
    }
    MinibatchExecutor<T>::prepare(program);
  }

  OptionError reason_;
};

/// Rounds the factors of convolutions to TF32; the rest is stage 04's.
class Tf32Executor final : public MinibatchExecutor<float> {
 public:
  using MinibatchExecutor<float>::run;

  void run(const ConvolutionReluPool& op) {
    if (shard(op.output).rows == 0) return;
    ladder::convolution_relu_pool_in_tf32(stream(), problem_of(op), workspace());
  }

  void run(const ConvolutionBackward& op) {
    const ConvolutionProblem convolution = problem(op.input, op.filter);
    if (!shared_memory::fits_windows(convolution)) return MinibatchExecutor<float>::run(op);
    ladder::filter_gradient_in_tf32(stream(), convolution, at(op.input), at(op.doutput), at(op.dfilter), workspace());
    if (!op.dinput) return;
    ladder::input_gradient_in_tf32(stream(), convolution, at(op.filter), at(op.doutput), at(op.dinput), workspace());
  }

 private:
  void run(const Line& line) override { run_in_range(*this, line); }
};

template <typename T>
std::unique_ptr<Executor<T>> make_executor(const StageOptions& options) {
  if (options.at("math") == "own") return std::make_unique<MinibatchExecutor<T>>();
  if (auto reason = obstacle(options, std::is_same_v<T, double>)) {
    return std::make_unique<WithoutConvolutions<T>>(*std::move(reason));
  }
  if constexpr (std::is_same_v<T, float>) return std::make_unique<Tf32Executor>();
  return nullptr;  // a double has had an obstacle
}

template <typename T>
InPrecision<T> in_precision() {
  return {.make_executor = make_executor<T>,
          .rewrite = fuse_as_chosen<T>,
          .make_step = make_recorded_step<T>,
          .make_predictors = minibatch::make_all_predictors<T>};
}

Stage describe_stage() {
  Stage stage = gpu_stage(with_options_of(tf32_offers(), stage04_offers()));
  stage.summary = "Stage 04 with convolutions whose factors are rounded to TF32.";
  stage.why_idle = [](const std::string& option, const StageOptions& values, const ModelOptions& model,
                      const WorkerOptions& workers, const Sgd& sgd) {
    if (option != "math") return why_idle_in_step(option, values, model, workers, sgd);
    return std::string(model.name == "cnn" ? "" : "is for the convolutions of --model cnn");
  };
  stage.in_float = in_precision<float>();
  stage.in_double = in_precision<double>();
  stage.folder = "ladders/convolution/";
  stage.files = stage04_files();
  stage.files["convolution_relu_pool"] = "ladders/convolution/tf32_convolution.cu";
  stage.files["convolution_backward"] = "ladders/convolution/tf32_convolution.cu";
  stage.offers = all_offers();
  return stage;
}

}  // namespace

int run_tf32(int argc, char** argv) { return run_stage(describe_stage(), argc, argv); }

}  // namespace stagewise
