/// @file
/// How numbers on the GPUs of several processes are added up.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "05_mpi/devices.hpp"
#include "cuda/handles.hpp"
#include "mpi/world.hpp"
#include "tensor/shape.hpp"

namespace stagewise::mpi {

/// A part of a bucket: numbers in the device's memory.
template <typename T>
struct Piece {
  T* values = nullptr;
  Index count = 0;
};

/// Adds up over all ranks, in place. Each transport is a file in transport/.
///
/// All ranks begin the same buckets in the same order. A sum has the same bits on every rank and in
/// every run: it is taken in an order that depends on the number of ranks and the bucket's size
/// only.
template <typename T>
class Transport {
 public:
  Transport() = default;
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// Whether begin() does nothing but enqueue, so that it can be recorded and repeated.
  virtual bool can_be_recorded() const = 0;

  /// Makes room for what is begun between two finish().
  /// @throws Error if there is too little memory.
  virtual void reserve(Index /*count*/) {}

  /// Begins a bucket, whose numbers are complete with what is in the stream by now. They must be
  /// left alone until the stream is done with what finish() has put into it.
  virtual void begin(std::span<const Piece<T>> bucket, const cuda::Stream& stream) = 0;

  /// Brings all buckets home: what comes next in each one's stream finds the sums. May wait for the
  /// other ranks.
  virtual void finish() = 0;

  /// @throws Error if another rank is known to have failed. Waits for nobody.
  virtual void check() {}

  /// Whether check() or begin() has thrown: nobody must wait for a stream then.
  virtual bool has_failed() const { return false; }
};

/// The names that `--transport` accepts.
const std::vector<std::string>& transport_names();

/// The transport that `auto` stands for here: nccl where it works, else host.
std::string choose_transport(const std::string& name, const World& world,
                             const Placement& placement);

/// Why a transport cannot work here; empty where it can.
std::string reason_against(const std::string& transport, const Placement& placement);

/// @throws UsageError where there is such a reason.
void check_transport(const std::string& name, const Placement& placement);

/// Makes a transport. Waits for the other ranks.
/// @param name but for `auto`.
/// @param world must outlive the transport.
template <typename T>
std::unique_ptr<Transport<T>> make_transport(const std::string& name, World& world);

/// MPI_Allreduce of any length, in place, in memory that MPI can reach.
template <typename T>
void all_reduce(const World& world, T* values, Index count);

}  // namespace stagewise::mpi
