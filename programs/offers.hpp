/// @file
/// The programs that help texts list.
#pragma once

#include <vector>

#include "app/stage.hpp"

namespace stagewise {

/// The stages, one after another, and the programs beside them: for Stage::offers.
inline std::vector<Offers> all_offers() {
  return {{.program = "stage01_serial",
           .options = {"gemm", "workers", "average", "average-every"},
           .commands = {}},
          {.program = "stage02_naive_cuda", .options = {"block-size", "memory"}, .commands = {}},
          {.program = "stage03_shared_memory",
           .options = {"gemm", "reduce", "convolution", "fold-bias"},
           .commands = {}},
          {.program = "stage04_minibatch",
           .options = {"stream-batches", "gather", "fuse", "persistent", "capture", "workers",
                       "average", "average-every"},
           .commands = {}},
          {.program = "stage05_mpi",
           .options = {"stream-batches", "gather", "fuse", "persistent", "capture", "workers",
                       "average", "average-every", "strategy", "transport", "timeout", "no-overlap",
                       "data-from"},
           .commands = {}},
          {.program = "the program grade", .options = {}, .commands = {"grade"}},
          {.program = "ladder",
           .options = {},
           .commands = {"gemm", "reduce", "transpose", "convolution", "all-reduce"}}};
}

}  // namespace stagewise
