/// @file
/// Sums by NCCL: from GPU to GPU, in a stream, without the host.
#pragma once

#include <memory>
#include <string>

#include "05_mpi/transport.hpp"

namespace stagewise::mpi {

/// Why NCCL cannot add up here; empty where it can.
std::string reason_against_nccl(const Placement& placement);

/// NCCL's kernels are put into a stream like any other, and so a recorded step holds them, too:
/// nothing is left for the host to do. Each rank needs a GPU of its own.
///
/// NCCL knows nothing of MPI, which only brings its id from rank 0 to the others. Recordings must
/// be gone before the transport is.
/// @throws Error with NCCL's reason if it cannot start.
template <typename T>
std::unique_ptr<Transport<T>> make_nccl_transport(World& world);

}  // namespace stagewise::mpi
