/// @file
/// How much memory this process can still allocate.
#pragma once

#include <cstddef>

namespace stagewise {

/// Bytes that the process can probably allocate: what is free or can be freed, including swap space
/// included, within the limits of `ulimit -v` and the control group (of a container or a batch
/// job).
std::size_t available_host_memory();

/// Whether this many bytes can be allocated now, in one piece. They are not kept.
bool can_be_had(std::size_t bytes);

}  // namespace stagewise
