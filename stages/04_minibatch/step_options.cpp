#include "04_minibatch/step_options.hpp"

#include <string>

#include "tensor/error.hpp"

namespace stagewise {
namespace {

/// @throws UsageError where no product could pick rows while it loads.
void check_gather_loads(const StageOptions& values, const ModelOptions& model) {
  if (values.at("stream-batches") == "on") {
    throw UsageError(
        "--gather loads is for a data set on the device, and --stream-batches leaves it on the "
        "host");
  }
  if (model.name == "cnn" || values.at("fuse") == "off") {
    throw UsageError(
        std::string("--gather loads needs a fused layer that reads the input, and ") +
        (model.name == "cnn" ? "the cnn begins with a convolution" : "--fuse off leaves none"));
  }
}

}  // namespace

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
           .only_trains = true},
          {.name = "fuse",
           .description = "one kernel for a layer, or stage 03's",
           .choices = {"on", "off"},
           .default_choice = "on"},
          {.name = "capture",
           .description = "record steps as CUDA graphs, or launch each kernel anew",
           .choices = {"on", "off"},
           .default_choice = "on",
           .only_trains = true,
           .changes_no_number = true}};
}

CapturedStepOptions read_step_options(const StageOptions& values, const ModelOptions& model,
                                      bool timings) {
  const std::string& gather = values.at("gather");
  if (gather == "loads") check_gather_loads(values, model);
  return {.captures = values.at("capture") == "on",
          .repeats = !timings,
          .streams_batches = values.at("stream-batches") == "on",
          .gather = gather == "loads"    ? GatherForm::loads
                    : gather == "kernel" ? GatherForm::kernel
                                         : GatherForm::automatic,
          .fuses = values.at("fuse") == "on"};
}

}  // namespace stagewise
