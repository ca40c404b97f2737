/// @file
/// Which file computes each operation, for Stage::files.
#pragma once

#include "cli/stage.hpp"

namespace stagewise {

/// Those of stage 02.
inline OperationFiles stage02_files() {
  OperationFiles files = primitive_files("stages/02_naive_cuda/", ".cu");
  set_files(files, "stages/02_naive_cuda/", {{"naive_cuda_executor.cpp", {"gather", "copy"}}});
  return files;
}

}  // namespace stagewise
