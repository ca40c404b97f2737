#include "05_mpi/transport.hpp"

#include <algorithm>

#include "05_mpi/transport/cuda_aware.hpp"
#include "05_mpi/transport/host.hpp"
#include "mpi/check.hpp"
#include "tensor/error.hpp"

namespace stagewise::mpi {

const std::vector<std::string>& transport_names() {
  static const std::vector<std::string> names = {"host", "cuda-aware"};
  return names;
}

std::string reason_against(const std::string& transport) {
  return transport == "cuda-aware" ? reason_against_cuda_aware() : "";
}

void check_transport(const std::string& name) {
  const std::string reason = reason_against(name);
  if (reason.empty()) return;
  throw UsageError("--transport " + name + " cannot work here: " + reason +
                   "; --transport host works everywhere");
}

template <typename T>
std::unique_ptr<Transport<T>> make_transport(const TransportOptions& options, World& world,
                                             const cuda::Stream& stream, Index most) {
  if (options.name == "cuda-aware") {
    return std::make_unique<CudaAwareTransport<T>>(world, stream, options.overlaps);
  }
  return std::make_unique<HostTransport<T>>(world, stream, most, options.overlaps);
}

template <typename T>
void all_reduce(const World& world, T* values, Index count) {
  constexpr Index most = Index{1} << 30;  // MPI's counts are ints
  for (Index first = 0; first < count; first += most) {
    MPI_CHECK(MPI_Allreduce(MPI_IN_PLACE, values + first,
                            static_cast<int>(std::min(most, count - first)), type_of<T>(), MPI_SUM,
                            world.communicator()));
  }
}

template std::unique_ptr<Transport<float>> make_transport(const TransportOptions&, World&,
                                                          const cuda::Stream&, Index);
template std::unique_ptr<Transport<double>> make_transport(const TransportOptions&, World&,
                                                           const cuda::Stream&, Index);
template void all_reduce(const World&, float*, Index);
template void all_reduce(const World&, double*, Index);

}  // namespace stagewise::mpi
