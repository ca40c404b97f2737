#include "05_mpi/transport/cuda_aware.hpp"

#include "cuda/device.hpp"
#ifdef STAGEWISE_CUDA_ON_CPU
#include "cuda_on_cpu/settings.hpp"
#endif
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace stagewise::mpi {

std::string reason_against_cuda_aware() {
#ifdef STAGEWISE_CUDA_ON_CPU
  if (!cuda_on_cpu::settings().protect) return "";
  return "STAGEWISE_CPU_PROTECT=on hides the device's memory from MPI, too";
#elif defined(MPIX_CUDA_AWARE_SUPPORT)
  if (MPIX_Query_cuda_support() == 1) return "";
  return "this MPI was built without support for CUDA";
#else
  return "this MPI does not say whether it supports CUDA";
#endif
}

template <typename T>
void CudaAwareTransport<T>::begin(std::span<const Piece<T>> message) {
  messages_.emplace_back(message.begin(), message.end());
  if (!overlaps_) return;
  while (events_.size() < messages_.size()) events_.emplace_back();
  events_[messages_.size() - 1].record(*stream_);
}

//! [finish]
template <typename T>
void CudaAwareTransport<T>::finish() {
  if (!overlaps_) stream_->synchronize();
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    if (overlaps_) events_[i].synchronize();
    for (const Piece<T>& piece : messages_[i]) all_reduce(*world_, piece.values, piece.count);
  }
  messages_.clear();
}
//! [finish]

template class CudaAwareTransport<float>;
template class CudaAwareTransport<double>;

}  // namespace stagewise::mpi
