#include <deque>
#include <vector>

#include "05_mpi/transport.hpp"
#ifdef CUDA_ON_CPU
#include "cuda_on_cpu/settings.hpp"
#endif
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace stagewise::mpi {
namespace {

/// Passes device pointers to MPI, which decides how the numbers get from GPU to GPU: over NVLink,
/// by the network card, or through the host after all. The host waits until a bucket is complete
/// before it calls MPI, since MPI knows nothing of streams.
template <typename T>
class CudaAwareTransport final : public Transport<T> {
 public:
  explicit CudaAwareTransport(Communicator& world) : world_(&world) {}

  bool can_be_recorded() const override { return false; }

  void begin(std::span<const Piece<T>> bucket, const cuda::Stream& stream) override {
    while (complete_.size() <= buckets_.size()) complete_.emplace_back();
    complete_[buckets_.size()].record(stream);
    buckets_.emplace_back(bucket.begin(), bucket.end());
  }

  //! [finish]
  void finish() override {
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      complete_[i].synchronize();
      for (const Piece<T>& piece : buckets_[i]) all_reduce(*world_, piece.values, piece.count);
    }
    buckets_.clear();
  }
  //! [finish]

 private:
  Communicator* world_;
  std::deque<cuda::Event> complete_;  ///< each bucket's
  std::vector<std::vector<Piece<T>>> buckets_;
};

}  // namespace

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
std::unique_ptr<Transport<T>> make_cuda_aware_transport(Communicator& world) {
  return std::make_unique<CudaAwareTransport<T>>(world);
}

template std::unique_ptr<Transport<float>> make_cuda_aware_transport(Communicator&);
template std::unique_ptr<Transport<double>> make_cuda_aware_transport(Communicator&);

}  // namespace stagewise::mpi
