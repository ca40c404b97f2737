/// @file
/// Counts what a test program allocates. Linking allocation_counter.cpp replaces the global
/// operators new and delete of the whole program, the library's containers included.
#pragma once

#include <cstdint>

namespace stagewise {

/// How often any form of operator new has been called since the program started.
std::int64_t allocations_so_far();

}  // namespace stagewise
