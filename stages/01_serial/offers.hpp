/// @file
/// What stage 01's program offers.
#pragma once

#include "cli/stage.hpp"

namespace stagewise {

/// The program adds the choices of `--gemm`, which the stage knows.
inline Offers stage01_offers() {
  return {.program = "stage01_serial",
          .has_workers = true,
          .options = {{.name = "gemm",
                       .description = "variant of the matrix product",
                       .default_choice = "reordered"}}};
}

}  // namespace stagewise
