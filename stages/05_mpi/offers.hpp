/// @file
/// What stage 05 offers on the command line.
#pragma once

#include "app/stage.hpp"

namespace stagewise::mpi {

inline Offers offers() {
  return {.program = "stage05_mpi",
          .options = {"stream-batches", "gather", "fuse", "capture", "workers", "average",
                      "average-every", "strategy", "transport", "no-overlap", "data-from"},
          .commands = {"grade"}};
}

}  // namespace stagewise::mpi
