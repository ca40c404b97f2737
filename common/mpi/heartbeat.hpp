/// @file
/// Signs of life of the processes on a host.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "mpi/world.hpp"

namespace stagewise::mpi {

//! [heartbeat]
/// Notices when another process on this host has stopped. If one ends, mpirun ends the others. If
/// it is stopped, for example by a debugger, or hangs in the kernel, nobody says so: the others
/// wait in MPI or in NCCL for ever.
///
/// As long as it lives, this object counts in memory that the processes share, in a thread of its
/// own, and looks whether the others still do. Time counts only while this process runs: processes
/// that are stopped and continued together do not miss each other.
class Heartbeat {
 public:
  /// @param world must outlive this.
  /// @param patience how long another process may be silent.
  /// @param on_silence is called, once and in the thread, with the rank of one that is silent for
  ///        longer.
  Heartbeat(World& world, std::chrono::seconds patience, std::function<void(int rank)> on_silence);

  /// From now on, the others do not expect this process to count.
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  void watch(std::chrono::seconds patience, const std::function<void(int rank)>& on_silence);

  World& world_;
  std::mutex mutex_;
  std::condition_variable change_;
  bool ends_ = false;
  std::thread thread_;
};
//! [heartbeat]

/// A Heartbeat that says which process on this host has stopped, and ends all of them.
/// @param program its name, for the message.
std::shared_ptr<Heartbeat> make_heartbeat(World& world, const std::string& program, std::chrono::seconds patience);

}  // namespace stagewise::mpi
