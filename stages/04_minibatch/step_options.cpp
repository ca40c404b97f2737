#include "04_minibatch/step_options.hpp"

namespace stagewise {

std::string why_idle_in_step(const std::string& option, const StageOptions& values,
                             const ModelOptions& model, const WorkerOptions& /*workers*/,
                             const Sgd& /*sgd*/) {
  if (option != "gather") return "";
  if (values.at("stream-batches") == "on") {
    return "is for a data set on the device, and --stream-batches leaves it on the host";
  }
  const std::string need = "needs a fused layer that reads the input, and ";
  if (model.name == "cnn") return need + "the cnn begins with a convolution";
  return values.at("fuse") == "off" ? need + "--fuse off leaves none" : "";
}

minibatch::FuseOptions read_fuse_options(const StageOptions& values) {
  const std::string& fuse = values.at("fuse");
  const auto last = fuse == "layers" ? minibatch::LastLayer::loss
                    : fuse == "rows" ? minibatch::LastLayer::warp_per_row
                                     : minibatch::LastLayer::shares;
  return {.layers = fuse != "off", .last_layer = last, .gathers = values.at("gather") != "kernel"};
}

RecordedStepOptions read_step_options(const StageOptions& values, bool timings) {
  return {.records = values.at("capture") == "on",
          .repeats = !timings,
          .streams_batches = values.at("stream-batches") == "on",
          .fuse = read_fuse_options(values)};
}

}  // namespace stagewise
