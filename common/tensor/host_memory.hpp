/// @file
/// How much memory this process can still have.
#pragma once

#include <cstddef>

namespace stagewise {

/// Bytes that the process may hope for: what the machine has free or can free, swap space included,
/// and no more than `ulimit -v` and the control group (of a container or a batch job) leave it.
std::size_t available_host_memory();

/// Whether this many bytes in one piece can be had now. Nobody keeps them.
bool can_be_had(std::size_t bytes);

}  // namespace stagewise
