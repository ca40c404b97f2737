/// @file
/// What stage 01 offers on the command line.
#pragma once

#include "app/stage.hpp"

namespace stagewise::serial {

/// The stage's program, options and commands, as other stages name them.
inline Offers offers() {
  return {.program = "stage01_serial",
          .options = {"gemm", "workers", "average", "average-every"},
          .commands = {}};
}

}  // namespace stagewise::serial
