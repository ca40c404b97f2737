/// @file
/// What the tests of all stages that run on a GPU have in common.
#pragma once

#include <string>
#include <type_traits>

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

/// A maker of executors and a precision, as one type.
template <typename MakerType, typename Type>
struct StageType {
  using Maker = MakerType;
  using T = Type;
};

template <typename Maker>
using StageTypes = testing::Types<StageType<Maker, float>, StageType<Maker, double>>;

struct StageNames {
  template <typename S>
  static std::string GetName(int /*index*/) {  // NOLINT(*-naming): GoogleTest wants this name
    return std::is_same_v<typename S::T, float> ? "float" : "double";
  }
};

}  // namespace stagewise
