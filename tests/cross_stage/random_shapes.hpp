/// @file
/// How many random shapes the tests of the ladders try.
#pragma once

#include <cstdlib>
#include <string>

#include "cuda/device.hpp"
#include "tensor/shape.hpp"

namespace stagewise {

constexpr int usual_on_cpu = 25;

/// Random shapes for each rung: 25 on a CPU and 200 on a GPU, or what the environment variable
/// STAGEWISE_TEST_SHAPES says: 100 for `./run.sh test --all`, few for the slow presets.
inline int shapes_per_rung() {
  if (const char* const asked = std::getenv("STAGEWISE_TEST_SHAPES")) return std::stoi(asked);
  return cuda::runs_on_cpu() ? usual_on_cpu : 200;
}

/// Whether fewer shapes than usual were asked for, because everything takes many times as long.
inline bool is_in_a_slow_preset() {
  return shapes_per_rung() < usual_on_cpu;
}

/// Whether to leave out a shape of so many elements: the large ones, where there is no time for
/// them.
inline bool is_too_large(Index elements) {
  return is_in_a_slow_preset() && elements > 4000;
}

}  // namespace stagewise
