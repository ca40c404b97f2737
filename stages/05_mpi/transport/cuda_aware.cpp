#include "05_mpi/transport/cuda_aware.hpp"

#include "cuda/device.hpp"
#ifdef CUDA_ON_CPU
#include "cuda_on_cpu/settings.hpp"
#endif
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace stagewise::mpi {

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

template <typename T>
void CudaAwareTransport<T>::begin(std::span<const Piece<T>> bucket, const cuda::Stream& stream) {
  while (complete_.size() <= buckets_.size()) complete_.emplace_back();
  complete_[buckets_.size()].record(stream);
  buckets_.emplace_back(bucket.begin(), bucket.end());
}

//! [finish]
template <typename T>
void CudaAwareTransport<T>::finish() {
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    complete_[i].synchronize();
    for (const Piece<T>& piece : buckets_[i]) all_reduce(*world_, piece.values, piece.count);
  }
  buckets_.clear();
}
//! [finish]

template class CudaAwareTransport<float>;
template class CudaAwareTransport<double>;

}  // namespace stagewise::mpi
