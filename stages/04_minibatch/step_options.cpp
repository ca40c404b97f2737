#include "04_minibatch/step_options.hpp"

#include <string>

#include "cuda/device.hpp"
#include "tensor/error.hpp"
#include "tensor/option_error.hpp"

namespace stagewise {
std::string why_idle_in_step(const std::string& option, const StageOptions& values,
                             const ModelOptions& model, const WorkerOptions& workers,
                             const Sgd& sgd) {
  if (option == "math") {
    return model.name == "cnn" ? "" : "is for the convolutions of --model cnn";
  }
  if (option != "gather") return "";
  if (values.at("stream-batches") == "on") {
    return "is for a data set on the device, and --stream-batches leaves it on the host";
  }
  const std::string need = "needs a fused layer that reads the input, and ";
  if (model.name == "cnn") return need + "the cnn begins with a convolution";
  return values.at("fuse") == "off" ? need + "--fuse off leaves none" : "";
}

minibatch::FuseOptions read_fuse_options(const StageOptions& values) {
  return {.layers = values.at("fuse") == "on", .gathers = values.at("gather") != "kernel"};
}

minibatch::Math read_math(const StageOptions& values, bool is_double) {
  if (values.at("math") == "own") return minibatch::Math::own;
  if (is_double) {
    throw OptionError("--math tf32 rounds floats: it is for --precision float",
                      {"math", "precision"});
  }
  if (values.at("fuse") == "off") {
    throw OptionError("--math tf32 needs fused convolutions, and --fuse off leaves none",
                      {"math", "fuse"});
  }
  constexpr int least = 80;
  if (!cuda::runs_on_cpu() && cuda::compute_capability() < least) {
    throw OptionError("--math tf32 takes a GPU of compute capability 8.0 or higher", {"math"});
  }
  return minibatch::Math::tf32;
}

RecordedStepOptions read_step_options(const StageOptions& values, bool timings) {
  return {.records = values.at("capture") == "on",
          .repeats = !timings,
          .streams_batches = values.at("stream-batches") == "on",
          .fuse = read_fuse_options(values)};
}

}  // namespace stagewise
