#include "05_mpi/all_reduce/peer_buffer.hpp"

#include <exception>
#include <functional>
#include <string>

#include <cuda_runtime.h>

#include "cuda/check.hpp"
#include "cuda/memory.hpp"
#include "mpi/check.hpp"
#include "tensor/error.hpp"

namespace stagewise::mpi {

//! [exchange]
PeerBuffer::PeerBuffer(Communicator& world, std::size_t bytes)
    : world_(&world), own_({static_cast<Index>(bytes)}, cuda::device_memory()) {
  CUDA_CHECK(cudaMemset(own_.data(), 0, bytes));
  CUDA_CHECK(cudaDeviceSynchronize());
  cudaIpcMemHandle_t handle{};
  CUDA_CHECK(cudaIpcGetMemHandle(&handle, own_.data()));
  const std::vector<cudaIpcMemHandle_t> handles = world.gather_all(handle);
  for (int rank = 0; rank < world.size(); ++rank) {
    void* address = own_.data();
    if (rank != world.rank()) {
      const cudaError_t status = cudaIpcOpenMemHandle(
          &address, handles[static_cast<std::size_t>(rank)], cudaIpcMemLazyEnablePeerAccess);
      if (status != cudaSuccess) {
        throw Error("the GPU of rank " + std::to_string(world.rank()) +
                    " cannot access the memory of rank " + std::to_string(rank) +
                    "'s: " + cudaGetErrorString(status) + "; --transport host works everywhere");
      }
    }
    addresses_.push_back(static_cast<std::byte*>(address));
  }
}
//! [exchange]

PeerBuffer::~PeerBuffer() {
  for (std::byte* const address : addresses_) {
    if (address != own_.data()) cudaIpcCloseMemHandle(address);
  }
  // Nobody frees what another still has open. After an error, the others may never come.
  if (std::uncaught_exceptions() == 0) MPI_Barrier(world_->communicator());
}

bool PeerBuffer::contains(const void* begin, std::size_t bytes) const {
  const auto* const first = static_cast<const std::byte*>(begin);
  const std::byte* const end = own_.data() + own_.elements();
  return !std::less<>()(first, own_.data()) && !std::less<>()(end, first) &&
         bytes <= static_cast<std::size_t>(end - first);
}

}  // namespace stagewise::mpi
