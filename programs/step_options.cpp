#include "programs/step_options.hpp"

#include <string>

namespace stagewise {
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
  return {.layers = values.at("fuse") == "on",
          .gathers = values.at("gather") != "kernel",
          .persistent = choice_of(values.at("persistent"))};
}

RecordedStepOptions read_step_options(const StageOptions& values, bool timings) {
  return {.records = values.at("capture") == "on",
          .repeats = !timings,
          .streams_batches = values.at("stream-batches") == "on",
          .fuse = read_fuse_options(values)};
}

}  // namespace stagewise
