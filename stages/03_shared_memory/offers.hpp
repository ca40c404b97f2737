/// @file
/// What stage 03 offers on the command line.
#pragma once

#include "app/stage.hpp"

namespace stagewise::shared_memory {

inline Offers offers() {
  return {.program = "stage03_shared_memory",
          .options = {"gemm", "reduce", "convolution", "fold-bias"},
          .commands = {"gemm", "reduce", "transpose"}};
}

}  // namespace stagewise::shared_memory
