/// @file
/// Sums by an MPI that reads and writes the device's memory itself.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "05_mpi/transport.hpp"

namespace stagewise::mpi {

/// Why MPI cannot be given pointers to the device's memory here; empty where it can.
///
/// CUDA on the CPU has its memory in the process's own, where every MPI finds it.
std::string reason_against_cuda_aware();

/// Gives MPI the pointers to the device's memory. How it comes from GPU to GPU is MPI's affair:
/// over NVLink, by the network card, or through the host after all. The host waits for a bucket to
/// be complete before it lets MPI begin, since MPI knows nothing of streams.
template <typename T>
class CudaAwareTransport final : public Transport<T> {
 public:
  explicit CudaAwareTransport(World& world) : world_(&world) {}

  bool can_be_recorded() const override { return false; }
  void begin(std::span<const Piece<T>> bucket, const cuda::Stream& stream) override;
  void finish() override;

 private:
  World* world_;
  std::deque<cuda::Event> complete_;  ///< each bucket's
  std::vector<std::vector<Piece<T>>> buckets_;
};

}  // namespace stagewise::mpi
