#include "programs/step_options.hpp"

#include <string>

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
          {.name = "capture",
           .description = "record steps as CUDA graphs, or launch each kernel anew",
           .choices = {"on", "off"},
           .default_choice = "on",
           .only_trains = true,
           .changes_no_number = true}};
}

std::string why_idle_in_step(const std::string& option, const StageOptions& values,
                             const ModelOptions& model) {
  if (option != "gather") return "";
  if (values.at("stream-batches") == "on") {
    return "is for a data set on the device, and --stream-batches leaves it on the host";
  }
  const std::string need = "needs a fused layer that reads the input, and ";
  if (model.name == "cnn") return need + "the cnn begins with a convolution";
  return values.at("fuse") == "off" ? need + "--fuse off leaves none" : "";
}

minibatch::FuseOptions read_fuse_options(const StageOptions& values) {
  const auto gather = values.find("gather");  // evaluation has none
  return {.layers = values.at("fuse") == "on",
          .gathers = gather == values.end() || gather->second != "kernel"};
}

RecordedStepOptions read_step_options(const StageOptions& values, bool timings) {
  return {.records = values.at("capture") == "on",
          .repeats = !timings,
          .streams_batches = values.at("stream-batches") == "on",
          .fuse = read_fuse_options(values)};
}

}  // namespace stagewise
