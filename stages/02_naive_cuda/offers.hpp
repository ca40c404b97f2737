/// @file
/// What stage 02 offers on the command line.
#pragma once

#include "app/stage.hpp"

namespace stagewise::naive_cuda {

inline Offers offers() {
  return {.program = "stage02_naive_cuda", .options = {"block-size", "memory"}, .commands = {}};
}

}  // namespace stagewise::naive_cuda
