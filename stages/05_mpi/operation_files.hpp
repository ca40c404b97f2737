/// @file
/// Which file computes each operation, for Stage::files.
#pragma once

#include "04_minibatch/operation_files.hpp"

namespace stagewise {

/// Those of stage 05: stage 04's, and the exchanges between processes.
inline OperationFiles stage05_files() {
  OperationFiles files = stage04_files();
  files["all_reduce"] = "stages/05_mpi/transport.cpp";
  files["all_reduce_update"] = "stages/05_mpi/all_reduce/2_two_shot.cu";
  files["replicate"] = "common/training/executor.hpp";
  return files;
}

}  // namespace stagewise
