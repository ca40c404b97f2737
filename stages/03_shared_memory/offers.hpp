/// @file
/// What stage 03's program offers.
#pragma once

#include "cli/stage.hpp"

namespace stagewise {

/// The program adds the choices of `--gemm`, `--reduce` and `--convolution`, and the default of
/// `--reduce`, which the stage knows.
inline Offers stage03_offers() {
  return {.program = "stage03_shared_memory",
          .options = {{.name = "gemm",
                       .description = "rung that multiplies matrices",
                       .default_choice = "auto"},
                      {.name = "reduce", .description = "rung that adds up"},
                      {.name = "convolution",
                       .description = "by stage 02's kernels, or as a product",
                       .default_choice = "auto"}}};
}

}  // namespace stagewise
