#include "programs/step_options.hpp"

#include <string>

#include "cuda/device.hpp"
#include "tensor/error.hpp"

namespace stagewise {
std::vector<StageOption> step_options() {
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
           .only_trains = true,
           .changes_program = true},
          {.name = "fuse",
           .description = "one kernel for a layer, or stage 03's",
           .choices = {"on", "off"},
           .default_choice = "on",
           .changes_program = true},
          {.name = "math",
           .description = "how convolutions multiply floats: as they are, or rounded to TF32, on "
                          "tensor cores",
           .choices = {"own", "tf32"},
           .default_choice = "own"},
          {.name = "persistent",
           .description = "one kernel for many steps of a small mlp, which keeps its weights",
           .choices = {"off", "auto", "on"},
           .default_choice = "off",
           .only_trains = true,
           .changes_program = true},
          {.name = "capture",
           .description = "record steps as CUDA graphs, or launch each kernel anew",
           .choices = {"on", "off"},
           .default_choice = "on",
           .only_trains = true,
           .changes_no_number = true}};
}

namespace {

std::string why_not_persistent(const StageOptions& values, const ModelOptions& model,
                               const WorkerOptions& workers, const Sgd& sgd) {
  if (!is_plain(sgd)) return "is for --optimizer sgd with a constant rate";
  if (model.name != "mlp" || model.hidden.size() != 1) {
    return "is for --model mlp with one hidden layer";
  }
  if (workers.workers > 1) return "is for one worker: several exchange gradients in every step";
  if (values.at("stream-batches") == "on") {
    return "is for a data set on the device, and --stream-batches leaves it on the host";
  }
  if (values.at("fuse") == "off") return "needs fused layers, and --fuse off leaves none";
  if (values.at("gather") == "kernel") {
    return "is for a kernel that picks its batches itself, and --gather kernel leaves that to "
           "another";
  }
  return "";
}

minibatch::Choice choice_of(const std::string& value) {
  if (value == "on") return minibatch::Choice::always;
  return value == "off" ? minibatch::Choice::never : minibatch::Choice::automatic;
}

}  // namespace

std::string why_idle_in_step(const std::string& option, const StageOptions& values,
                             const ModelOptions& model, const WorkerOptions& workers,
                             const Sgd& sgd) {
  if (option == "math") {
    if (model.name != "cnn") return "is for the convolutions of --model cnn";
    return values.at("fuse") == "off" ? "needs fused convolutions, and --fuse off leaves none" : "";
  }
  if (option == "persistent") return why_not_persistent(values, model, workers, sgd);
  if (option != "gather") return "";
  if (values.at("stream-batches") == "on") {
    return "is for a data set on the device, and --stream-batches leaves it on the host";
  }
  const std::string need = "needs a fused layer that reads the input, and ";
  if (model.name == "cnn") return need + "the cnn begins with a convolution";
  return values.at("fuse") == "off" ? need + "--fuse off leaves none" : "";
}

minibatch::FuseOptions read_fuse_options(const StageOptions& values) {
  const auto gather = values.find("gather");  // evaluation has neither
  const auto persistent = values.find("persistent");
  return {.layers = values.at("fuse") == "on",
          .gathers = gather == values.end() || gather->second != "kernel",
          .persistent = persistent == values.end() ? minibatch::Choice::never
                                                   : choice_of(persistent->second)};
}

minibatch::Math read_math(const StageOptions& values, bool is_double) {
  if (values.at("math") == "own") return minibatch::Math::own;
  if (is_double) {
    throw UsageError("--math tf32 rounds floats: it is for --precision float");
  }
  constexpr int least = 80;
  if (!cuda::runs_on_cpu() && cuda::compute_capability() < least) {
    throw UsageError("--math tf32 takes a GPU of compute capability 8.0 or higher");
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
