#include <stdexcept>

#include "05_mpi/transport.hpp"

namespace stagewise::mpi {

std::string reason_against_nccl(const Placement& /*placement*/) {
#ifdef CUDA_ON_CPU
  return "NCCL needs GPUs, and kernels run on the CPU here";
#else
  return "this program was built without NCCL (package libnccl-dev)";
#endif
}

template <typename T>
std::unique_ptr<Transport<T>> make_nccl_transport(Communicator& /*world*/) {
  throw std::logic_error("there is no NCCL to make a transport of");
}

template std::unique_ptr<Transport<float>> make_nccl_transport(Communicator&);
template std::unique_ptr<Transport<double>> make_nccl_transport(Communicator&);

}  // namespace stagewise::mpi
