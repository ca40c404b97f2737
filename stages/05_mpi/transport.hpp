/// @file
/// How numbers on the GPUs of several processes are added up.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cuda/handles.hpp"
#include "mpi/world.hpp"
#include "tensor/shape.hpp"

namespace stagewise::mpi {

/// A part of a message: numbers in the device's memory.
template <typename T>
struct Piece {
  T* values = nullptr;
  Index count = 0;
};

/// Adds up over all ranks, in place. A message begins its way as soon as its numbers are complete
/// on the device, while the device computes others; that is what begin() and finish() are for. Each
/// transport is a file in transport/.
///
/// All ranks begin the same messages in the same order. A sum has the same bits on every rank and
/// in every run: MPI adds in an order that depends on the number of ranks and the message's size
/// only.
template <typename T>
class Transport {
 public:
  Transport() = default;
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// Announces a message, whose numbers are complete with what is in the stream by now. They must
  /// be left alone until finish().
  virtual void begin(std::span<const Piece<T>> message) = 0;

  /// Brings all messages home: what comes next in the stream finds sums. Waits for the other ranks.
  virtual void finish() = 0;
};

/// What all transports are made from.
struct TransportOptions {
  std::string name = "host";
  bool overlaps = true;  ///< whether messages leave one by one, or all together in finish()
};

/// The names that `--transport` accepts.
const std::vector<std::string>& transport_names();

/// Why a transport cannot work here; empty where it can.
std::string reason_against(const std::string& transport);

/// @throws UsageError where there is such a reason.
void check_transport(const std::string& name);

/// Makes a transport.
/// @param stream where the numbers are computed. It and `world` must outlive the transport.
/// @param most how many numbers all messages between two finish() have together, at most.
/// @throws Error if there is too little memory.
template <typename T>
std::unique_ptr<Transport<T>> make_transport(const TransportOptions& options, World& world,
                                             const cuda::Stream& stream, Index most);

/// MPI_Allreduce of any length, in place, in memory that MPI can reach.
template <typename T>
void all_reduce(const World& world, T* values, Index count);

}  // namespace stagewise::mpi
