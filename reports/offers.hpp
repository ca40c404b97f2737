/// @file
/// What the programs of the reports offer.
#pragma once

#include "cli/stage.hpp"

namespace stagewise {

/// Report 000: the comparison by which it was graded.
inline Offers grade_offers() { return {.program = "the program grade", .commands = {"grade"}}; }

/// Report 000: stage 02 as a first program might be.
inline Offers per_step_memory_offers() {
  return {.program = "per_step_memory",
          .options = {{.name = "memory",
                       .description = "allocate, copy and free per step, or allocate once",
                       .choices = {"per-step", "once"},
                       .default_choice = "per-step",
                       .insists = "per-step",
                       .only_trains = true}}};
}

/// Report 003: stage 03 with biases as rows of the weights.
inline Offers fold_bias_offers() {
  return {.program = "fold_bias",
          .options = {{.name = "fold-bias",
                       .description = "make the bias a row of the weights, the input's ones put in",
                       .choices = {"in-place", "out-of-place", "off"},
                       .default_choice = "in-place",
                       .choice_without_value = "in-place",
                       .changes_program = true}}};
}

}  // namespace stagewise
