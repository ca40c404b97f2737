/// @file
/// The transports, each in a file of its own, and where they work.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "05_mpi/transport.hpp"

namespace stagewise::mpi {

/// Sums through the host's memory: works with every MPI.
template <typename T>
std::unique_ptr<Transport<T>> make_host_transport(Communicator& world);

/// Sums by an MPI that reads and writes the device's memory itself.
template <typename T>
std::unique_ptr<Transport<T>> make_cuda_aware_transport(Communicator& world);

/// Sums by NCCL: from GPU to GPU, in a stream, without the host. Recordings must be destroyed
/// before the transport.
/// @throws Error with NCCL's reason if it cannot start.
template <typename T>
std::unique_ptr<Transport<T>> make_nccl_transport(Communicator& world);

/// Sums by kernels that access the other GPUs' memory. Recordings must be destroyed before the
/// transport.
/// @param patience how long a kernel waits for another rank.
/// @throws Error if one GPU cannot access another.
template <typename T>
std::unique_ptr<Transport<T>> make_peer_transport(Communicator& world,
                                                  std::chrono::seconds patience);

/// Why MPI cannot access device pointers here; empty if it can.
///
/// With CUDA on the CPU, device memory is ordinary memory of the process: every MPI can access it.
std::string reason_against_cuda_aware();

/// Why NCCL cannot work here; empty if it can.
std::string reason_against_nccl(const Placement& placement);

/// Why kernels cannot access the other GPUs here; empty if they can.
///
/// With CUDA on the CPU, the memory of an emulated GPU is shared among processes.
std::string reason_against_peer(const Placement& placement);

}  // namespace stagewise::mpi
