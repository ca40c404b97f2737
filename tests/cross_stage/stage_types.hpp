/// @file
/// What the tests of all stages that run on a GPU have in common.
#pragma once

#include <string>

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

}  // namespace stagewise
