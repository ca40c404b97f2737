/// @file
/// Which file computes each operation, for Stage::files.
#pragma once

#include "cli/stage.hpp"

namespace stagewise {

/// Those of stage 01.
inline OperationFiles stage01_files() {
  OperationFiles files = primitive_files("stages/01_serial/", ".hpp");
  files["gather"] = "common/data/dataset.cpp";
  set_files(files, "stages/01_serial/",
            {{"gemm.cpp", {"gemm"}}, {"serial_executor.cpp", {"mean", "copy"}}});
  return files;
}

}  // namespace stagewise
