#include "05_mpi/transport.hpp"

#include "05_mpi/transport/by_mpi.hpp"
#include "05_mpi/transport/peer.hpp"
#include "tensor/option_error.hpp"
#ifdef CUDA_ON_CPU
#include "cuda_on_cpu/settings.hpp"
#endif
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace stagewise::mpi {
namespace {

/// Why MPI cannot access device pointers here; empty if it can. With CUDA on the CPU, device memory
/// is ordinary memory of the process: every MPI can access it.
std::string reason_against_cuda_aware() {
#ifdef CUDA_ON_CPU
  if (!cuda_on_cpu::settings().protect) return "";
  return "STAGEWISE_CPU_PROTECT=on hides the device's memory from MPI, too";
#elif defined(MPIX_CUDA_AWARE_SUPPORT)
  if (MPIX_Query_cuda_support() == 1) return "";
  return "this MPI was built without support for CUDA";
#else
  return "this MPI does not say whether it supports CUDA";
#endif
}

}  // namespace

const std::vector<std::string>& transport_names() {
  static const std::vector<std::string> names = {"auto", "host", "cuda-aware", "nccl", "peer"};
  return names;
}

std::string reason_against(const std::string& transport, const Placement& placement) {
  if (transport == "cuda-aware") return reason_against_cuda_aware();
  if (transport == "nccl") return reason_against_nccl(placement);
  if (transport == "peer") return reason_against_peer(placement);
  return "";
}

std::string choose_transport(const std::string& name, const Placement& placement) {
  if (name != "auto") return name;
  const auto works = [&](const std::string& transport) {
    return placement.processes > 1 && reason_against(transport, placement).empty();
  };
  if (placement.are_linked && works("peer")) return "peer";
  return works("nccl") ? "nccl" : "host";
}

void check_transport(const std::string& name, const Placement& placement) {
  const std::string reason = reason_against(name, placement);
  if (reason.empty()) return;
  throw OptionError("--transport " + name + " cannot work here: " + reason +
                        "; --transport host works everywhere",
                    {"transport"});
}

bool can_update(const std::string& transport) {
  return transport == "peer";
}

bool adds_up_in_kernels(const std::string& transport) {
  return transport == "nccl" || transport == "peer";
}

template <typename T>
std::unique_ptr<Transport<T>> make_transport(const std::string& name, Communicator& world,
                                             std::chrono::seconds patience) {
  if (name == "cuda-aware") return std::make_unique<CudaAwareTransport<T>>(world);
  if (name == "nccl") return make_nccl_transport<T>(world);
  if (name == "peer") return std::make_unique<PeerTransport<T>>(world, patience);
  return std::make_unique<HostTransport<T>>(world);
}

template std::unique_ptr<Transport<float>> make_transport(const std::string&, Communicator&,
                                                          std::chrono::seconds);
template std::unique_ptr<Transport<double>> make_transport(const std::string&, Communicator&,
                                                           std::chrono::seconds);

}  // namespace stagewise::mpi
