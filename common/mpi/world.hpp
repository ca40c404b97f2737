/// @file
/// The processes that mpirun started.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <mpi.h>

namespace stagewise::mpi {

/// Some processes, each with a number.
///
/// Functions that are not const wait for the other processes: all must call them, in the same
/// order.
class Communicator {
 public:
  virtual ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// This process's number, from 0 on.
  int rank() const { return rank_; }

  /// The number of processes.
  int size() const { return size_; }

  /// For MPI calls that this class does not have.
  MPI_Comm communicator() const { return all_; }

  /// The number that one of these has among all processes.
  int rank_in_world(int rank) const;

  /// Those of these processes that pass the same colour, in the order that they have here.
  std::unique_ptr<Communicator> split(int color);

  /// Each rank's value, in the order of the ranks.
  template <typename U>
  std::vector<U> gather_all(const U& own) {
    static_assert(std::is_trivially_copyable_v<U>);
    std::vector<U> all(static_cast<std::size_t>(size_));
    gather_all_bytes(&own, sizeof(U), all.data());
    return all;
  }

  /// Each rank's text, in the order of the ranks.
  std::vector<std::string> gather_all(const std::string& own);

  /// MPI_Allreduce with MPI_SUM, of any length, in place, in memory that MPI can access.
  template <typename T>
  void all_reduce(T* values, std::int64_t count);

  /// Sets every rank's `values`, and their number, to those of one rank.
  template <typename U>
  void broadcast(std::vector<U>& values, int from = 0) {
    static_assert(std::is_trivially_copyable_v<U>);
    auto count = static_cast<std::uint64_t>(values.size());
    broadcast_bytes(&count, sizeof(count), from);
    values.resize(count);
    broadcast_bytes(values.data(), count * sizeof(U), from);
  }

  /// Likewise for a single value of rank 0.
  template <typename U>
  void broadcast(U& value) {
    static_assert(std::is_trivially_copyable_v<U>);
    broadcast_bytes(&value, sizeof(U), 0);
  }

 protected:
  /// All that mpirun has started; ranks are not known yet.
  Communicator() = default;

  /// These processes.
  /// @param of is freed at the end, unless it is that of all processes.
  void take(MPI_Comm of);

 private:
  void gather_all_bytes(const void* own, std::size_t bytes, void* all);
  void broadcast_bytes(void* data, std::size_t bytes, int from);

  MPI_Comm all_ = MPI_COMM_WORLD;
  int rank_ = 0;
  int size_ = 1;
};

/// MPI from initialization to finalization, and this process's place among the others. A program
/// creates one first of all. Started without mpirun, it is the only process.
class World final : public Communicator {
 public:
  /// Initializes MPI, which removes its own options from the command line.
  /// @throws Error if MPI cannot be initialized.
  World(int& argc, char**& argv);

  /// Finalizes MPI; waits for the others to do so.
  ~World() override;
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// This process's number among those on its host.
  int local_rank() const { return local_rank_; }

  /// The ranks of the processes on this host, by their numbers there.
  const std::vector<int>& local_ranks() const { return local_ranks_; }

  /// A counter of a process on this host, in memory that these share; see Heartbeat.
  std::atomic_ref<std::uint32_t> beats(int local_rank) { return std::atomic_ref(shared_words_[1 + local_rank]); }

  /// The number of hosts that the processes are on.
  int hosts() const { return hosts_; }

  /// Whether this process is the first on its host to ask. Does not wait.
  bool is_first_to_fail() const;

  /// Ends all processes now, even those that wait for this one. mpirun ends with this exit code.
  /// Any thread may call it.
  [[noreturn]] static void abort(int exit_code);

  /// Waits for all ranks, asleep most of the time: for waits of seconds, in which MPI's barrier
  /// would take a core from the ranks that still work.
  void wait_patiently();

 private:
  void share_memory();

  int local_rank_ = 0;
  int hosts_ = 1;
  MPI_Comm local_ = MPI_COMM_NULL;
  std::vector<int> local_ranks_;
  MPI_Win shared_ = MPI_WIN_NULL;  ///< of the processes on this host

  /// In shared_: whether one of them has asked is_first_to_fail(), then the counter of each.
  std::uint32_t* shared_words_ = nullptr;
};

/// MPI's name for a type of numbers.
template <typename T>
MPI_Datatype type_of() {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, std::int32_t> ||
                std::is_same_v<T, std::uint8_t>);
  if (std::is_same_v<T, float>) return MPI_FLOAT;
  if (std::is_same_v<T, double>) return MPI_DOUBLE;
  return std::is_same_v<T, std::int32_t> ? MPI_INT32_T : MPI_UINT8_T;
}

/// "Open MPI v4.1.4, MPI 3.1".
std::string describe_library();

}  // namespace stagewise::mpi
