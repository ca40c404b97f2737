/// @file
/// What the stages offer, one after another, and the programs beside them.
#pragma once

#include <vector>

#include "01_serial/offers.hpp"
#include "02_naive_cuda/offers.hpp"
#include "03_shared_memory/offers.hpp"
#include "04_minibatch/offers.hpp"
#include "05_mpi/offers.hpp"

namespace stagewise {

/// For Stage::offers.
inline std::vector<Offers> all_offers() {
  return {serial::offers(),
          naive_cuda::offers(),
          shared_memory::offers(),
          minibatch::offers(),
          mpi::offers(),
          {.program = "the program grade", .options = {}, .commands = {"grade"}},
          {.program = "ladder", .options = {}, .commands = {"gemm", "reduce", "transpose"}}};
}

}  // namespace stagewise
