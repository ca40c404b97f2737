/// @file
/// What the tests of all stages that run on a GPU have in common.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "cuda/device.hpp"
#include "tensor/error.hpp"

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

}  // namespace stagewise
