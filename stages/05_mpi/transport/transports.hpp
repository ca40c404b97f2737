/// @file
/// The transports, each in a file of its own, and where they work.
#pragma once

#include <memory>
#include <string>

#include "05_mpi/transport.hpp"

namespace stagewise::mpi {

/// Sums by way of the host's memory: works with every MPI.
template <typename T>
std::unique_ptr<Transport<T>> make_host_transport(World& world);

/// Sums by an MPI that reads and writes the device's memory itself.
template <typename T>
std::unique_ptr<Transport<T>> make_cuda_aware_transport(World& world);

/// Sums by NCCL: from GPU to GPU, in a stream, without the host. Recordings must be gone before the
/// transport is.
/// @throws Error with NCCL's reason if it cannot start.
template <typename T>
std::unique_ptr<Transport<T>> make_nccl_transport(World& world);

/// Why MPI cannot be given pointers to the device's memory here; empty where it can.
///
/// CUDA on the CPU has its memory in the process's own, where every MPI finds it.
std::string reason_against_cuda_aware();

/// Why NCCL cannot add up here; empty where it can.
std::string reason_against_nccl(const Placement& placement);

}  // namespace stagewise::mpi
