/// @file
/// The programs that help texts list.
#pragma once

#include <vector>

#include "programs/stage01_offers.hpp"
#include "programs/stage02_offers.hpp"
#include "programs/stage03_offers.hpp"
#include "programs/stage04_offers.hpp"
#include "programs/stage05_offers.hpp"

namespace stagewise {

/// What the stages, in their order, and the programs beside them offer: for Stage::offers.
inline std::vector<Offers> all_offers() {
  return {stage01_offers(),
          stage02_offers(),
          stage03_offers(),
          stage04_offers(),
          stage05_offers(),
          {.program = "the program grade", .commands = {"grade"}},
          {.program = "ladder",
           .commands = {"gemm", "reduce", "transpose", "convolution", "all-reduce"}}};
}

}  // namespace stagewise
