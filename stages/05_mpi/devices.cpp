#include "05_mpi/devices.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <cuda_runtime.h>

#include "cuda/check.hpp"
#include "cuda/device.hpp"
#include "tensor/counts.hpp"

namespace stagewise::mpi {
namespace {

constexpr int longest_id = 16;  // "0000:19:00.0"

/// A GPU among those of all hosts. Device 0 of one process may be device 1 of another, for example
/// if a batch system shows every process only its own GPU.
using Identity = std::array<char, longest_id + MPI_MAX_PROCESSOR_NAME>;

Identity identity_of_device(int device) {
  Identity identity{};
  CUDA_CHECK(cudaDeviceGetPCIBusId(identity.data(), longest_id, device));
  int length = 0;
  MPI_Get_processor_name(identity.data() + longest_id, &length);
  return identity;
}

}  // namespace

//! [choose_device]
Placement choose_device(World& world) {
  cuda::require_device();
  int devices = 0;
  CUDA_CHECK(cudaGetDeviceCount(&devices));
  const int device = world.local_rank() % devices;
  CUDA_CHECK(cudaSetDevice(device));

  const Identity own = identity_of_device(device);
  std::map<Identity, int> processes_on;
  for (const Identity& identity : world.gather_all(own)) ++processes_on[identity];
  Placement placement{.processes_on_device = processes_on.at(own),
                      .devices = static_cast<int>(processes_on.size()),
                      .processes = world.size(),
                      .hosts = world.hosts()};
  for (const auto& [identity, processes] : processes_on) {
    placement.max_processes_on_device = std::max(placement.max_processes_on_device, processes);
  }
  return placement;
}
//! [choose_device]

std::string describe(const World& world, const Placement& placement) {
  std::string text = count_of(world.size(), "process", "processes") + " on " +
                     count_of(world.hosts(), "host") + ", ";
  const bool is_emulated = cuda::runs_on_cpu();
  if (placement.max_processes_on_device == 1) {
    return text + (world.size() == 1 ? "with " : "each with ") +
           (is_emulated ? "an emulated GPU" : "a GPU") + " of its own";
  }
  return text + "sharing " + count_of(placement.devices, is_emulated ? "emulated GPU" : "GPU");
}

}  // namespace stagewise::mpi
