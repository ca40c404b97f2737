/// @file
/// What the tests of programs in several processes have in common.
#pragma once

#include <string>

#include "cli/trainings.hpp"

namespace stagewise {

/// A program as so many processes.
inline std::string ranks(int count, const std::string& program = "stage05_mpi") {
  return "mpirun -n " + std::to_string(count) + " " + program;
}

class Stage05 : public Trainings {
 protected:
  void SetUp() override {
#ifdef STAGEWISE_STAGE05
    surroundings_.longest_run = 60;
    surroundings_.variables["STAGEWISE_CPU_WORKERS"] = "1";  // the ranks have the cores
    need_device("stage04_minibatch");                        // which takes less time to say so
#else
    GTEST_SKIP() << "this build has no stage 05 (libopenmpi-dev)";
#endif
  }

  /// Whether the kernels run on the CPU, where MPI can read the device's memory.
  bool is_emulated() {
    return count(run_well("stage04_minibatch info"), "CUDA on the CPU") > 0;
  }
};

}  // namespace stagewise
