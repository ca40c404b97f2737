/// @file
/// What the tests of all stages that run on a GPU have in common: where they cannot run, and how
/// many random shapes those of the ladders try.
#pragma once

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "cuda/device.hpp"
#include "tensor/error.hpp"
#include "tensor/shape.hpp"

namespace stagewise {

/// Why a test that needs a GPU cannot run here; empty where it can.
inline std::string reason_to_skip() {
  try {
    cuda::require_device();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

/// A test that needs a GPU.
class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  }
};

constexpr int usual_on_cpu = 25;

/// Random shapes for each rung: 25 on a CPU and 200 on a GPU, or what the environment variable
/// STAGEWISE_TEST_SHAPES says: 100 for `./run.sh test --all`, few for the slow presets.
inline int shapes_per_rung() {
  if (const char* const asked = std::getenv("STAGEWISE_TEST_SHAPES")) return std::stoi(asked);
  return cuda::runs_on_cpu() ? usual_on_cpu : 200;
}

/// Whether fewer shapes than usual were asked for, because everything takes many times as long.
inline bool is_in_a_slow_preset() { return shapes_per_rung() < usual_on_cpu; }

/// Whether to leave out a shape of so many elements: the large ones, where there is no time for
/// them.
inline bool is_too_large(Index elements) { return is_in_a_slow_preset() && elements > 4000; }

}  // namespace stagewise
