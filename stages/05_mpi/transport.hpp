/// @file
/// How numbers on the GPUs of several processes are added up.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "05_mpi/all_reduce/peers.hpp"
#include "cuda/handles.hpp"
#include "mpi/devices.hpp"
#include "mpi/world.hpp"
#include "tensor/shape.hpp"

namespace stagewise::mpi {

/// A part of a bucket: numbers in the device's memory.
template <typename T>
struct Piece {
  T* values = nullptr;
  Index count = 0;
  Update<T> update = {};  ///< if the transport can_update()
};

/// Adds up numbers over all ranks, in place. Each transport is a file in transport/.
///
/// All ranks begin the same buckets in the same order. A sum has the same bits on every rank and in
/// every run, because the order of its additions depends only on the number of ranks and on the
/// bucket's size.
template <typename T>
class Transport {
 public:
  Transport() = default;
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// Whether begin() only enqueues work, so that it can be recorded and replayed.
  virtual bool can_be_recorded() const = 0;

  /// Allocates memory for the buckets that are begun between two calls of finish().
  /// @throws Error if there is too little memory.
  virtual void reserve(Index /*count*/) {}

  /// Places in the transport's own memory, where values of these sizes are added up faster than
  /// elsewhere, if they stay there; one after another in a bucket's order. Empty: all memory is
  /// equally good. May wait for the other ranks, which ask for the same.
  /// @throws Error if there is too little memory.
  virtual std::vector<T*> memory_for(std::span<const Index> /*counts*/) { return {}; }

  /// Begins a bucket, whose numbers are complete when the work now in the stream is done. They must
  /// not be changed until the stream has also done what finish() enqueues into it.
  virtual void begin(std::span<const Piece<T>> bucket, const cuda::Stream& stream) = 0;

  /// Finishes all buckets: later work in each bucket's stream finds the sums. May wait for the
  /// other ranks.
  virtual void finish() = 0;

  /// @throws Error if another rank is known to have failed. Does not wait.
  virtual void check() {}

  /// Whether check() or begin() has thrown; then the host must not wait for a stream.
  virtual bool has_failed() const { return false; }
};

/// The names that `--transport` accepts.
const std::vector<std::string>& transport_names();

/// The transport that `auto` picks here: the first that works of peer (only if NVLink connects all
/// GPUs), nccl and host. Other names stay as they are.
std::string choose_transport(const std::string& name, const Placement& placement);

/// Why a transport cannot work here; empty if it can.
std::string reason_against(const std::string& transport, const Placement& placement);

/// @throws UsageError if a transport cannot work here.
void check_transport(const std::string& name, const Placement& placement);

/// How long a rank waits for another that has stopped, and a kernel of the transport `peer` for
/// another's numbers, unless told otherwise. Ranks have been two minutes apart although nothing was
/// wrong.
constexpr std::chrono::seconds default_patience(300);

/// Whether a transport updates parameters by the sums of their gradients, instead of storing these.
bool can_update(const std::string& transport);

/// Whether a transport's sums run as kernels, which find no room on the GPU beside a large product.
bool adds_up_in_kernels(const std::string& transport);

/// Makes a transport. Waits for the other ranks.
/// @param name a name other than `auto`.
/// @param world must outlive the transport.
template <typename T>
std::unique_ptr<Transport<T>> make_transport(const std::string& name, Communicator& world,
                                             std::chrono::seconds patience = default_patience);

/// Sums by NCCL: from GPU to GPU, in a stream, without the host. Recordings must be destroyed
/// before the transport.
/// @throws Error with NCCL's reason if it cannot start.
template <typename T>
std::unique_ptr<Transport<T>> make_nccl_transport(Communicator& world);

/// Why NCCL cannot work here; empty if it can.
std::string reason_against_nccl(const Placement& placement);

}  // namespace stagewise::mpi
