/// @file
/// What the program `ladder` offers. Its trainings have further options: those of the stage whose
/// kernels they replace.
#pragma once

#include "cli/stage.hpp"

namespace stagewise {

/// The kernels themselves: a subcommand for each ladder.
inline Offers ladder_offers() {
  return {.program = "ladder", .commands = {"gemm", "reduce", "transpose", "convolution", "all-reduce"}};
}

/// Stage 04 with convolutions that round.
inline Offers tf32_offers() {
  return {.program = "ladder tf32",
          .options = {{.name = "math",
                       .description = "how convolutions multiply floats: rounded to TF32, on "
                                      "tensor cores, or as they are",
                       .choices = {"tf32", "own"},
                       .default_choice = "tf32"}}};
}

/// Stage 04 with one kernel for many steps of a small network.
inline Offers persistent_offers() {
  return {.program = "ladder persistent",
          .options = {{.name = "persistent",
                       .description = "one kernel for many steps of a small mlp, which keeps its weights",
                       .choices = {"on", "auto", "off"},
                       .default_choice = "on",
                       .insists = "on",
                       .only_trains = true,
                       .changes_program = true}}};
}

}  // namespace stagewise
