/// @file
/// Loops whose counter is known when they are compiled.
#pragma once

#include <utility>

#include <cuda_runtime.h>

namespace stagewise::shared_memory {

/// Calls work.operator()<i>() for i = 0 to `count` - 1. In an unrolled `for`, the counter is a
/// variable, which cannot be a template's argument.
template <int count, typename Work>
__device__ __forceinline__ void unroll(const Work& work) {
  [&]<int... i>(std::integer_sequence<int, i...>) {
    (work.template operator()<i>(), ...);
  }
  (std::make_integer_sequence<int, count>());
}

}  // namespace stagewise::shared_memory
