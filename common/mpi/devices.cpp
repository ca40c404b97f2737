#include "mpi/devices.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

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

//! [is_linked]
/// Whether this process's GPU has a link with native atomic operations to every other GPU: NVLink
/// has them, PCI Express does not. All GPUs are on one host.
bool is_linked(int device, const Identity& own, const std::vector<Identity>& all) {
  if (cuda::runs_on_cpu()) return false;
  return std::ranges::all_of(all, [&](const Identity& identity) {
    if (identity == own) return true;
    int other = 0;
    if (cudaDeviceGetByPCIBusId(&other, identity.data()) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      return false;  // not visible to this process
    }
    int takes_atomics = 0;
    CUDA_CHECK(cudaDeviceGetP2PAttribute(&takes_atomics, cudaDevP2PAttrNativeAtomicSupported, device, other));
    return takes_atomics != 0;
  });
}
//! [is_linked]

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
  const std::vector<Identity> all = world.gather_all(own);
  for (const Identity& identity : all) ++processes_on[identity];
  Placement placement{.processes_on_device = processes_on.at(own),
                      .devices = static_cast<int>(processes_on.size()),
                      .processes = world.size(),
                      .hosts = world.hosts()};
  for (const auto& [identity, processes] : processes_on) {
    placement.max_processes_on_device = std::max(placement.max_processes_on_device, processes);
  }
  const bool is_own_linked = world.hosts() == 1 && is_linked(device, own, all);
  placement.are_linked =
      std::ranges::all_of(world.gather_all(is_own_linked ? 1 : 0), [](int linked) { return linked != 0; });
  return placement;
}
//! [choose_device]

std::string describe(const World& world, const Placement& placement) {
  std::string text = count_of(world.size(), "process", "processes") + " on " + count_of(world.hosts(), "host") + ", ";
  const bool is_emulated = cuda::runs_on_cpu();
  if (placement.max_processes_on_device == 1) {
    return text + (world.size() == 1 ? "with " : "each with ") + (is_emulated ? "an emulated GPU" : "a GPU") +
           " of its own";
  }
  return text + "sharing " + count_of(placement.devices, is_emulated ? "emulated GPU" : "GPU");
}

}  // namespace stagewise::mpi
