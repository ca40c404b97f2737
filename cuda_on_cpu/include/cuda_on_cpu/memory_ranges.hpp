/// @file
/// Global memory as observers know it.
#pragma once

#include <cstdint>

#include "cuda_on_cpu/fiber.hpp"
#include "cuda_on_cpu/observer.hpp"

namespace cuda_on_cpu {

/// Finds out what accesses of the thread that the fiber runs need, unless that is known.
void resume(const Fiber& fiber);

/// The global memory at an address; null if it is nowhere near any.
const MemoryRange* range_of(std::uintptr_t address);

}  // namespace cuda_on_cpu
