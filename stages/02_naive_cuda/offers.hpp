/// @file
/// What stage 02's program offers.
#pragma once

#include "cli/stage.hpp"

namespace stagewise {

/// The program adds the default of `--block-size`, which the stage knows.
inline Offers stage02_offers() {
  return {.program = "stage02_naive_cuda",
          .options = {{.name = "block-size",
                       .description = "side of the blocks of threads that multiply matrices",
                       .choices = {"4", "8", "16", "32"}}}};
}

}  // namespace stagewise
