/// @file
/// What stage 04 offers on the command line.
#pragma once

#include "app/stage.hpp"

namespace stagewise::minibatch {

inline Offers offers() {
  return {.program = "stage04_minibatch",
          .options = {"stream-batches", "gather", "fuse", "capture", "workers", "average",
                      "average-every"},
          .commands = {}};
}

}  // namespace stagewise::minibatch
