/// @file
/// What stage 05 offers on the command line.
#pragma once

#include "04_minibatch/offers.hpp"

namespace stagewise::mpi {

/// The stage's program, options and commands, as other stages name them.
inline Offers offers() {
  return {.program = "stage05_mpi",
          .options = {"stream-batches", "gather", "fuse", "capture", "workers", "average",
                      "average-every", "strategy", "transport", "no-overlap", "data-from"},
          .commands = {}};
}

/// Where its lines are computed: stage 04's, and what processes exchange.
inline OperationFiles operation_files() {
  OperationFiles files = minibatch::operation_files();
  files["all_reduce"] = "stages/05_mpi/transport.cpp";
  files["replicate"] = "common/training/executor.hpp";
  return files;
}

}  // namespace stagewise::mpi
