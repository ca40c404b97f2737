/// @file
/// What stage 04's program offers.
#pragma once

#include "cli/stage.hpp"

namespace stagewise {

/// How batches get to the device, and what is fused and recorded.
inline Offers stage04_offers() {
  return {
      .program = "stage04_minibatch",
      .has_workers = true,
      .options = {
          {.name = "stream-batches",
           .description = "copy batches while others are computed, instead of the whole data set",
           .choices = {"off", "on"},
           .default_choice = "off",
           .choice_without_value = "on",
           .only_trains = true},
          {.name = "gather",
           .description = "batches of a data set on the device: in the products' loads, or copied",
           .choices = {"auto", "loads", "kernel"},
           .default_choice = "auto",
           .insists = "loads",
           .only_trains = true,
           .changes_program = true},
          {.name = "fuse",
           .description = "one kernel a layer; the last one's with its loss: each warp for a row, "
                          "or more (on)",
           .choices = {"on", "rows", "layers", "off"},
           .default_choice = "on",
           .changes_program = true},
          {.name = "capture",
           .description = "record steps as CUDA graphs, or launch each kernel anew",
           .choices = {"on", "off"},
           .default_choice = "on",
           .only_trains = true,
           .changes_no_number = true}}};
}

}  // namespace stagewise
