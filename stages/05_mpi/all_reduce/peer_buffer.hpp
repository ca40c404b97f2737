/// @file
/// GPU memory that several processes access.
#pragma once

#include <cstddef>
#include <vector>

#include "mpi/world.hpp"
#include "tensor/tensor.hpp"

namespace stagewise::mpi {

/// As many bytes on each rank's GPU, each of which is mapped into the addresses of all ranks
/// (CUDA's interprocess communication, IPC). Kernels of any rank read and write them.
///
/// All ranks construct and destroy the same buffers in the same order.
class PeerBuffer {
 public:
  /// The bytes are 0. Waits for the other ranks.
  /// @param world must outlive the buffer; all its ranks are on one host.
  /// @throws Error if there is too little memory, or if one GPU cannot access another.
  PeerBuffer(Communicator& world, std::size_t bytes);

  /// Waits for the other ranks, unless an error is on its way. No kernel uses the buffer any more.
  ~PeerBuffer();
  PeerBuffer(const PeerBuffer&) = delete;
  PeerBuffer& operator=(const PeerBuffer&) = delete;

  /// A rank's bytes from `first` on, at an address of this process, and as what is stored in them.
  template <typename U = std::byte>
  U* of(int rank, std::ptrdiff_t first = 0) const {
    return static_cast<U*>(static_cast<void*>(addresses_[static_cast<std::size_t>(rank)] + first));
  }

  /// Sets as many addresses as there are ranks to those of their bytes.
  template <typename U>
  void store_addresses(U** on_all, std::ptrdiff_t first = 0) const {
    for (int rank = 0; rank < world_->size(); ++rank) on_all[rank] = of<U>(rank, first);
  }

  /// Whether these bytes are among this rank's.
  bool contains(const void* begin, std::size_t bytes) const;

 private:
  Communicator* world_;
  Tensor<std::byte> own_;
  std::vector<std::byte*> addresses_;  ///< by rank
};

}  // namespace stagewise::mpi
