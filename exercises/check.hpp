/// @file
/// What the checks of exercises are written with. A check is a program: it includes the learner's
/// file, says what is right, and ends with the first sentence about what is not.
#pragma once

#ifdef EXERCISE_MPI
#define _GLIBCXX_ASSERTIONS  // an index beyond the end of a vector ends the program
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <random>
#include <string>
#include <vector>

#if !defined(EXERCISE_CUDA) && !defined(EXERCISE_MPI)
#include <cstring>

#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <unistd.h>
#endif
#ifdef EXERCISE_CUDA
#include <cuda_runtime.h>

#include "cuda_on_cpu/counters.hpp"
#include "cuda_on_cpu/settings.hpp"
#ifndef EXERCISE_ON_GPU  // which counts nothing: only results are checked there
#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/observer.hpp"
#endif
#endif
#ifdef EXERCISE_MPI
#include <csignal>
#include <cstring>

#include <mpi.h>
#include <unistd.h>
#endif

#ifdef EXERCISE_ON_GPU
/// What checks ask for only when they count.
namespace cuda_on_cpu {
inline MemoryCounts counted_accesses() {
  return {};
}
inline Counters& counters() {
  static Counters none{};
  return none;
}
}  // namespace cuda_on_cpu
#endif

/// Each exercise's own.
void check();

namespace exercise {

/// What the learner's function is called for: "For 12 numbers".
inline std::string& current_case() {
  static std::string what;
  return what;
}

#ifdef EXERCISE_MPI
inline int rank() {
  int number = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  return number;
}

inline int ranks() {
  int count = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  return count;
}
#endif

/// What is right so far; of several processes, the first one says it.
inline void pass(const std::string& what) {
#ifdef EXERCISE_MPI
  if (rank() != 0) return;
  std::printf("ok    with %d rank%s, ", ranks(), ranks() == 1 ? "" : "s");
#else
  std::printf("ok    ");
#endif
  std::printf("%s\n", what.c_str());
  std::fflush(stdout);
}

/// Ends the check with a sentence about what is wrong, in the terms of the lesson.
[[noreturn]] inline void fail(const std::string& sentence) {
  std::printf("fail  %s\n", sentence.c_str());
  std::fflush(stdout);
  std::_Exit(1);
}

inline void expect(bool holds, const std::string& sentence) {
  if (!holds) fail(sentence);
}

/// "4", "4.5", "0.25", "15708", "nan".
inline std::string text(double number) {
  if (std::isnan(number)) return "nan";
  char buffer[40];
  const bool is_whole = number == std::floor(number) && std::abs(number) < 1e9;
  std::snprintf(buffer, sizeof buffer, is_whole ? "%.0f" : "%.4g", number);
  return buffer;
}

/// Multiples of 1/8 between -2 and 2: floats add up thousands of their products exactly, in any
/// order, so that a result is right or wrong, and never only nearly so.
inline std::vector<float> numbers(std::size_t count, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<float> result(count);
  for (float& number : result) {
    number = static_cast<float>(static_cast<int>(random() % 33) - 16) / 8;
  }
  return result;
}

/// Compares results, in rows of `columns` if that is not 0.
/// @param what names the case: "for 37 x 53".
/// @param tolerance largest absolute difference
template <class T>
void expect_equal(const std::vector<T>& got, const std::vector<T>& expected,
                  const std::string& what, std::size_t columns = 0, double tolerance = 0) {
  if (got.size() != expected.size()) {
    fail(what + ", there are " + std::to_string(got.size()) + " results instead of " +
         std::to_string(expected.size()) + ".");
  }
  std::size_t wrong = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = static_cast<double>(got[i]) - static_cast<double>(expected[i]);
    if (difference <= tolerance && difference >= -tolerance) continue;  // false for NaN
    if (wrong++ == 0) first = i;
  }
  if (wrong == 0) return;
  const std::string place = columns == 0 ? "[" + std::to_string(first) + "]"
                                         : "[" + std::to_string(first / columns) + ", " +
                                               std::to_string(first % columns) + "]";
  fail(what + ", " + std::to_string(wrong) + " of " + std::to_string(expected.size()) +
       " results are wrong: the first, " + place + ", is " + text(static_cast<double>(got[first])) +
       " instead of " + text(static_cast<double>(expected[first])) + ".");
}

#ifdef EXERCISE_CUDA

/// Ends the check if a call of the runtime or a launch has failed.
inline void expect_no_error(const std::string& what) {
  cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  expect(error == cudaSuccess, what + ", CUDA reports: " + cudaGetErrorString(error) + ".");
}

/// Memory of the GPU, exactly as large as asked for: what is beyond it is found.
template <class T>
class DeviceArray {
 public:
  /// @param name what the task calls it, for what is said of a wrong access
  DeviceArray(std::size_t size, const std::string& name) : size_(size) {
#ifdef EXERCISE_ON_GPU
    cudaMalloc(&data_, size * sizeof(T));
#else
    static std::deque<std::string> places;  // which may be needed until the end
    places.push_back("the check for " + name);
    cudaMalloc(reinterpret_cast<void**>(&data_), size * sizeof(T), places.back().c_str(), 0);
#endif
  }
  DeviceArray(const std::vector<T>& values, const std::string& name)
      : DeviceArray(values.size(), name) {
    cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice);
  }
  ~DeviceArray() {
    cudaFree(data_);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() {
    return data_;
  }

  /// Waits for the GPU.
  std::vector<T> values() const {
    std::vector<T> result(size_);
    cudaDeviceSynchronize();
    cudaMemcpy(result.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost);
    return result;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

/// What stands between <<< and >>>.
struct Shape {
  dim3 grid;
  dim3 block;

  double blocks() const { return static_cast<double>(grid.x) * grid.y * grid.z; }
  double threads_of_block() const { return static_cast<double>(block.x) * block.y * block.z; }
  double threads() const { return blocks() * threads_of_block(); }
};

/// What some launches have done.
struct Counts {
  double launches;
  double graph_launches;
  double copies;
  double loads;             ///< requests of warps to global memory
  double stores;            ///< likewise, atomic functions included
  double sectors_per_load;  ///< of 32 bytes
  double sectors_per_store;
  double asked_bytes;  ///< of global memory, by all warps, in sectors
  double
      distinct_bytes;   ///< of global memory, that a launch has read, and those that it has written
  double atomics;       ///< requests to global memory
  double shared_loads;  ///< requests to shared memory
  double shared_stores;
  double bank_conflicts;
  double shared_atomics;   ///< requests to shared memory
  double lanes_per_load;   ///< threads that take part in a request to global memory
  double lanes_per_store;  ///< likewise, atomic functions included
  double atomic_lanes;     ///< threads that call atomic functions of global memory, each time
  Shape shape;             ///< of the launch with the most threads
};

#ifndef EXERCISE_ON_GPU

/// Watches launches besides whoever counts. Its functions must not report their own accesses.
class LaunchWatcher final : public cuda_on_cpu::Observer {
 public:
  [[gnu::no_sanitize("thread")]] void start_launch(
      const cuda_on_cpu::RunningLaunch& launch) override {
    const Shape shape{launch.configuration.grid, launch.configuration.block};
    if (shape.threads() > largest.threads()) largest = shape;
    counting->start_launch(launch);
  }
  [[gnu::no_sanitize("thread")]] void end_launch(cuda_on_cpu::RunningLaunch& launch) override {
    counting->end_launch(launch);
  }
  [[gnu::no_sanitize("thread")]] void start_block(const cuda_on_cpu::Block& block) override {
    counting->start_block(block);
  }
  [[gnu::no_sanitize("thread")]] void resume(const cuda_on_cpu::Fiber& fiber) override {
    counting->resume(fiber);
  }
  [[gnu::no_sanitize("thread")]] void access(const cuda_on_cpu::Fiber& fiber,
                                             const cuda_on_cpu::Access& access) override {
    counting->access(fiber, access);
  }
  [[gnu::no_sanitize("thread")]] cuda_on_cpu::Window window(
      const cuda_on_cpu::MemoryRange& range) override {
    return counting->window(range);
  }
  [[gnu::no_sanitize("thread")]] void passed_barrier(const cuda_on_cpu::Block& block) override {
    counting->passed_barrier(block);
  }
  [[gnu::no_sanitize("thread")]] void synchronized(const cuda_on_cpu::Block& block, unsigned warp,
                                                   unsigned lanes) override {
    counting->synchronized(block, warp, lanes);
  }
  [[gnu::no_sanitize("thread")]] void ordered_otherwise() override {
    counting->ordered_otherwise();
  }
  [[gnu::no_sanitize("thread")]] void thread_exited(const cuda_on_cpu::Block& block,
                                                    unsigned thread) override {
    counting->thread_exited(block, thread);
  }

  cuda_on_cpu::Observer* counting = nullptr;
  Shape largest{dim3(0, 0, 0), dim3(0, 0, 0)};
};

/// Begins to watch launches, once. What it watches begins with count_accesses().
inline LaunchWatcher& watch_launches() {
  static LaunchWatcher watcher;
  cuda_on_cpu::count_accesses();
  if (cuda_on_cpu::observer != &watcher) {
    watcher.counting = cuda_on_cpu::observer;
    watcher.allocations = watcher.counting->allocations + 1;
    watcher.frees = watcher.counting->frees + 1;
    cuda_on_cpu::observer = &watcher;
  }
  watcher.largest = {dim3(0, 0, 0), dim3(0, 0, 0)};
  return watcher;
}

#endif

/// Whether this run counts; another one looks for races instead.
inline bool is_counting() {
#ifdef EXERCISE_ON_GPU
  return false;
#else
  return std::getenv("STAGEWISE_CPU_OBSERVE") == nullptr;
#endif
}

/// What is right so far, of what has been counted.
inline void pass_counted(const std::string& what) {
  if (is_counting()) pass(what);
}

/// Counts what `work` does, in the run that counts: only then calls `judge` with it.
inline void count(const std::function<void()>& work,
                  const std::function<void(const Counts&)>& judge) {
  if (!is_counting()) {
    work();
    cudaDeviceSynchronize();
    return;
  }
#ifndef EXERCISE_ON_GPU
  const LaunchWatcher& watcher = watch_launches();
  const cuda_on_cpu::MemoryCounts before = cuda_on_cpu::counted_accesses();
  const cuda_on_cpu::Counters calls_before = cuda_on_cpu::counters();
  work();
  cudaDeviceSynchronize();
  const cuda_on_cpu::MemoryCounts after = cuda_on_cpu::counted_accesses();
  const cuda_on_cpu::Counters calls = cuda_on_cpu::counters();
  const cuda_on_cpu::AccessCounts loads = after.loads - before.loads;
  const cuda_on_cpu::AccessCounts atomics = after.atomics - before.atomics;
  cuda_on_cpu::AccessCounts stores = after.stores - before.stores;
  stores += atomics;
  const cuda_on_cpu::AccessCounts shared_loads = after.shared_loads - before.shared_loads;
  const cuda_on_cpu::AccessCounts shared_stores = after.shared_stores - before.shared_stores;
  const auto number = [](std::uint64_t value) { return static_cast<double>(value); };
  const auto ratio = [&](std::uint64_t a, std::uint64_t b) {
    return b == 0 ? 0 : number(a) / number(b);
  };
  judge({.launches = number(calls.launches - calls_before.launches),
         .graph_launches = number(calls.graph_launches - calls_before.graph_launches),
         .copies = number(calls.copies - calls_before.copies),
         .loads = number(loads.requests),
         .stores = number(stores.requests),
         .sectors_per_load = ratio(loads.sectors, loads.requests),
         .sectors_per_store = ratio(stores.sectors, stores.requests),
         .asked_bytes = 32 * number(loads.sectors + stores.sectors),
         .distinct_bytes = number(after.distinct_bytes - before.distinct_bytes),
         .atomics = number(atomics.requests),
         .shared_loads = number(shared_loads.requests),
         .shared_stores = number(shared_stores.requests),
         .bank_conflicts = number(shared_loads.conflicts + shared_stores.conflicts),
         .shared_atomics = number(after.shared_atomics.requests - before.shared_atomics.requests),
         .lanes_per_load = ratio(loads.lanes, loads.requests),
         .lanes_per_store = ratio(stores.lanes, stores.requests),
         .atomic_lanes = number(atomics.lanes),
         .shape = watcher.largest});
#endif
}

/// How many kernels have been launched so far. On a GPU, which does not tell, one more at each
/// call.
inline std::uint64_t launches() {
#ifdef EXERCISE_ON_GPU
  static std::uint64_t calls = 0;
  return ++calls;
#else
  return cuda_on_cpu::counters().launches;
#endif
}

/// "1 thread", "2 threads".
inline std::string several(double number, const std::string& word) {
  return text(number) + " " + word + (number == 1 ? "" : "s");
}

/// "4 x 2", or "4" if there is only x.
inline std::string extents(dim3 size) {
  std::string result = std::to_string(size.x);
  if (size.y > 1 || size.z > 1) result += " x " + std::to_string(size.y);
  if (size.z > 1) result += " x " + std::to_string(size.z);
  return result;
}

/// "4 x 2 blocks of 256 threads"
inline std::string described(const Shape& shape) {
  return extents(shape.grid) + (shape.blocks() == 1 ? " block of " : " blocks of ") +
         extents(shape.block) + (shape.threads_of_block() == 1 ? " thread" : " threads");
}

/// Ends the check if the host has done the work, which it can by copies.
inline void expect_kernel(const Counts& counts, const std::string& what) {
  expect(counts.launches > 0,
         what +
             ", the results are right, but no kernel was launched: let the threads of a kernel "
             "compute them, and launch it by kernel<<<blocks, threads>>>(...).");
}

/// Ends the check if few threads do the work of many.
/// @param needed so many threads should a launch have, as `why` says: "one for each number"
inline void expect_threads(const Counts& counts, const std::string& what, double needed,
                           const std::string& why) {
  expect_kernel(counts, what);
  const Shape& shape = counts.shape;
  const double block = shape.threads_of_block();
  if (shape.threads() < needed) {
    fail(what + ", the results are right, but the launch has only " + described(shape) +
         "; let it have at least " + several(needed, "thread") + ", " + why + ".");
  }
}

/// Ends the check if the blocks are no multiple of a warp.
inline void expect_blocks_of_warps(const Counts& counts, const std::string& what) {
  const Shape& shape = counts.shape;
  const double block = shape.threads_of_block();
  if (static_cast<int>(block) % 32 != 0) {
    fail(what + ", the launch has " + described(shape) +
         ": the last warp of each block is not full, since a warp has 32 threads" +
         (block < shape.blocks() && block < 32 ? "; are blocks and threads swapped?"
                                               : "; let a block have a multiple of 32."));
  }
}

/// Ends the check if most threads of a warp are idle.
inline void expect_full_warps(const Counts& counts, const std::string& what) {
  const double lanes = std::min(counts.lanes_per_load, counts.lanes_per_store);
  expect(lanes >= 24, what + ", only " + text(lanes) +
                          " of the 32 threads of a warp take part in an access to memory, on "
                          "average: let all of them work, on neighbouring numbers.");
}

#endif

#ifdef EXERCISE_MPI

/// What this rank has sent by itself, and the collective operations that it has taken part in.
struct Messages {
  double sent = 0;        ///< messages from one rank to another
  double sent_bytes = 0;  ///< in these
  double collectives = 0;
  double given_bytes = 0;  ///< that this rank has passed to collective operations
  double got_bytes = 0;    ///< that it has got from them
  int elsewhere = -1;      ///< where the first message went that was not for the next rank
};

inline Messages messages;

inline double bytes_of(double count, MPI_Datatype type) {
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  return count * bytes;
}

/// The sum of all ranks' counts.
inline double total(const int counts[]) {
  double sum = 0;
  for (int i = 0; i < ranks(); ++i) sum += counts[i];
  return sum;
}

inline void note_sent(int count, MPI_Datatype type, int to) {
  if (to == MPI_PROC_NULL) return;
  messages.sent += 1;
  if (to != (rank() + 1) % ranks() && messages.elsewhere < 0) messages.elsewhere = to;
  messages.sent_bytes += bytes_of(count, type);
}

inline void note_collective(double given_bytes, double got_bytes) {
  messages.collectives += 1;
  messages.given_bytes += given_bytes;
  messages.got_bytes += got_bytes;
}

/// "For 12 numbers, rank 1 of 3".
inline std::string who() {
  return (current_case().empty() ? "R" : current_case() + ", r") + "ank " + std::to_string(rank()) +
         " of " + std::to_string(ranks());
}

/// "on rank 1 of 3".
inline std::string here() {
  return "on rank " + std::to_string(rank()) + " of " + std::to_string(ranks());
}

/// "1 message", "2 messages".
inline std::string counted(double number, const std::string& word) {
  return text(number) + " " + word + (number == 1 ? "" : "s");
}

/// What the handlers of signals say; they must not allocate memory.
inline char too_late[600] = "";
inline char crashed[400] = "";

inline void write_and_exit(const char* sentence) {
  if (write(STDOUT_FILENO, sentence, std::strlen(sentence)) < 0) _exit(2);
  _exit(1);
}

/// Says what the learner's function is called for: "For 12 numbers". Ends the check if it has not
/// got to the next case after some seconds.
/// @param advice what may be wrong then
inline void begin_case(const std::string& what, const std::string& advice) {
  constexpr unsigned seconds = 5;
  current_case() = what;
  std::snprintf(too_late, sizeof too_late,
                "fail  %s, %d rank%s have not come to an end within %u seconds, so that one waits "
                "for what never comes: %s\n",
                what.c_str(), ranks(), ranks() == 1 ? "" : "s", seconds, advice.c_str());
  std::snprintf(crashed, sizeof crashed, "fail  %s has crashed: ", who().c_str());
  std::signal(SIGALRM, [](int) { write_and_exit(too_late); });
  alarm(seconds);
}

/// Says what MPI refuses.
inline void explain_error(MPI_Comm* /*comm*/, int* error, ...) {
  int kind = 0;
  MPI_Error_class(*error, &kind);
  if (kind == MPI_ERR_TRUNCATE) {
    fail(who() +
         " was sent more than it has asked for: sender and receiver disagree about how many "
         "numbers the message has.");
  }
  char reason[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(*error, reason, &length);
  const std::string arguments =
      kind == MPI_ERR_RANK    ? "; ranks are 0 to " + std::to_string(ranks() - 1) + "."
      : kind == MPI_ERR_COUNT ? "; has a count of elements become negative?"
                              : ".";
  fail(who() + " calls a function of MPI with arguments that it refuses (" + reason + ")" +
       arguments);
}

inline bool is_done = false;

/// Says that a rank has crashed, or ended itself.
inline void explain_crashes() {
  std::atexit([] {
    if (!is_done) fail(who() + " has ended the program; its caller is to decide what to do.");
  });
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE}) {
    std::signal(number, [](int reason) {
      const char* const sentence =
          reason == SIGFPE    ? "it has divided an integer by zero.\n"
          : reason == SIGABRT ? "it has used an index that its vector does not have, or a check of "
                                "the C++ library has failed otherwise.\n"
                              : "it has used memory that it does not have, such as what is behind "
                                "the end of a vector.\n";
      if (write(STDOUT_FILENO, crashed, std::strlen(crashed)) < 0) _exit(2);
      write_and_exit(sentence);
    });
  }
}

#endif

}  // namespace exercise

#ifdef EXERCISE_MPI

// MPI lets a program put functions of its own before the library's, for profilers.

extern "C" {
int MPI_Abort(MPI_Comm /*comm*/, int /*code*/) {
  exercise::fail("MPI_Abort() ends the program " + exercise::here() +
                 "; its caller is to decide what to do.");
}
int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  exercise::note_sent(count, type, to);
  return PMPI_Send(data, count, type, to, tag, comm);
}
int MPI_Ssend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  exercise::note_sent(count, type, to);
  return PMPI_Ssend(data, count, type, to, tag, comm);
}
int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  exercise::note_sent(count, type, to);
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}
int MPI_Sendrecv(const void* data, int count, MPI_Datatype type, int to, int tag, void* received,
                 int received_count, MPI_Datatype received_type, int from, int received_tag,
                 MPI_Comm comm, MPI_Status* status) {
  exercise::note_sent(count, type, to);
  return PMPI_Sendrecv(data, count, type, to, tag, received, received_count, received_type, from,
                       received_tag, comm, status);
}
int MPI_Sendrecv_replace(void* data, int count, MPI_Datatype type, int to, int tag, int from,
                         int received_tag, MPI_Comm comm, MPI_Status* status) {
  exercise::note_sent(count, type, to);
  return PMPI_Sendrecv_replace(data, count, type, to, tag, from, received_tag, comm, status);
}
int MPI_Allreduce(const void* data, void* result, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  const double bytes = exercise::bytes_of(count, type);
  exercise::note_collective(bytes, bytes);
  return PMPI_Allreduce(data, result, count, type, op, comm);
}
int MPI_Iallreduce(const void* data, void* result, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request* request) {
  const double bytes = exercise::bytes_of(count, type);
  exercise::note_collective(bytes, bytes);
  return PMPI_Iallreduce(data, result, count, type, op, comm, request);
}
int MPI_Reduce(const void* data, void* result, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
  const double bytes = exercise::bytes_of(count, type);
  exercise::note_collective(bytes, exercise::rank() == root ? bytes : 0);
  return PMPI_Reduce(data, result, count, type, op, root, comm);
}
int MPI_Reduce_scatter(const void* data, void* result, const int counts[], MPI_Datatype type,
                       MPI_Op op, MPI_Comm comm) {
  exercise::note_collective(exercise::bytes_of(exercise::total(counts), type),
                            exercise::bytes_of(counts[exercise::rank()], type));
  return PMPI_Reduce_scatter(data, result, counts, type, op, comm);
}
int MPI_Reduce_scatter_block(const void* data, void* result, int count, MPI_Datatype type,
                             MPI_Op op, MPI_Comm comm) {
  const double bytes = exercise::bytes_of(count, type);
  exercise::note_collective(bytes * exercise::ranks(), bytes);
  return PMPI_Reduce_scatter_block(data, result, count, type, op, comm);
}
int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const double bytes = exercise::bytes_of(count, type);
  const bool is_root = exercise::rank() == root;
  exercise::note_collective(is_root ? bytes : 0, is_root ? 0 : bytes);
  return PMPI_Bcast(data, count, type, root, comm);
}
int MPI_Scatter(const void* data, int count, MPI_Datatype type, void* received, int received_count,
                MPI_Datatype received_type, int root, MPI_Comm comm) {
  const bool is_root = exercise::rank() == root;
  exercise::note_collective(
      is_root ? exercise::bytes_of(static_cast<double>(count) * exercise::ranks(), type) : 0,
      received == MPI_IN_PLACE ? 0 : exercise::bytes_of(received_count, received_type));
  return PMPI_Scatter(data, count, type, received, received_count, received_type, root, comm);
}
int MPI_Scatterv(const void* data, const int counts[], const int places[], MPI_Datatype type,
                 void* received, int received_count, MPI_Datatype received_type, int root,
                 MPI_Comm comm) {
  const bool is_root = exercise::rank() == root;
  exercise::note_collective(
      is_root ? exercise::bytes_of(exercise::total(counts), type) : 0,
      received == MPI_IN_PLACE ? 0 : exercise::bytes_of(received_count, received_type));
  return PMPI_Scatterv(data, counts, places, type, received, received_count, received_type, root,
                       comm);
}
int MPI_Gather(const void* data, int count, MPI_Datatype type, void* received, int received_count,
               MPI_Datatype received_type, int root, MPI_Comm comm) {
  const bool is_root = exercise::rank() == root;
  exercise::note_collective(
      data == MPI_IN_PLACE ? 0 : exercise::bytes_of(count, type),
      is_root ? exercise::bytes_of(static_cast<double>(received_count) * exercise::ranks(),
                                   received_type)
              : 0);
  return PMPI_Gather(data, count, type, received, received_count, received_type, root, comm);
}
int MPI_Gatherv(const void* data, int count, MPI_Datatype type, void* received, const int counts[],
                const int places[], MPI_Datatype received_type, int root, MPI_Comm comm) {
  const bool is_root = exercise::rank() == root;
  exercise::note_collective(
      data == MPI_IN_PLACE ? 0 : exercise::bytes_of(count, type),
      is_root ? exercise::bytes_of(exercise::total(counts), received_type) : 0);
  return PMPI_Gatherv(data, count, type, received, counts, places, received_type, root, comm);
}
int MPI_Allgather(const void* data, int count, MPI_Datatype type, void* received,
                  int received_count, MPI_Datatype received_type, MPI_Comm comm) {
  const double bytes = exercise::bytes_of(received_count, received_type);
  exercise::note_collective(bytes, bytes * exercise::ranks());
  return PMPI_Allgather(data, count, type, received, received_count, received_type, comm);
}
int MPI_Allgatherv(const void* data, int count, MPI_Datatype type, void* received,
                   const int counts[], const int places[], MPI_Datatype received_type,
                   MPI_Comm comm) {
  exercise::note_collective(exercise::bytes_of(counts[exercise::rank()], received_type),
                            exercise::bytes_of(exercise::total(counts), received_type));
  return PMPI_Allgatherv(data, count, type, received, counts, places, received_type, comm);
}
int MPI_Alltoall(const void* data, int count, MPI_Datatype type, void* received, int received_count,
                 MPI_Datatype received_type, MPI_Comm comm) {
  const double bytes = exercise::bytes_of(received_count, received_type) * exercise::ranks();
  exercise::note_collective(bytes, bytes);
  return PMPI_Alltoall(data, count, type, received, received_count, received_type, comm);
}
int MPI_Alltoallv(const void* data, const int counts[], const int places[], MPI_Datatype type,
                  void* received, const int received_counts[], const int received_places[],
                  MPI_Datatype received_type, MPI_Comm comm) {
  const double got = exercise::bytes_of(exercise::total(received_counts), received_type);
  exercise::note_collective(
      data == MPI_IN_PLACE ? got : exercise::bytes_of(exercise::total(counts), type), got);
  return PMPI_Alltoallv(data, counts, places, type, received, received_counts, received_places,
                        received_type, comm);
}
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(exercise::explain_error, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  exercise::explain_crashes();
  check();
  exercise::is_done = true;
  alarm(0);
  if (exercise::rank() == 0) std::puts("done");
  MPI_Finalize();
  return 0;
}

#else

#if !defined(EXERCISE_CUDA)
/// AddressSanitizer calls this before it reports an access, at great length.
extern "C" void __asan_on_error() {
  char place[300] = "";
  __sanitizer_symbolize_pc(__asan_get_report_pc(), "%s:%l", place, sizeof place);
  const std::string full = place;
  const bool is_known = full.starts_with(EXERCISE_FILE);
  const std::string where =
      is_known ? full.substr(full.rfind('/') + 1) : std::string("a function of the C++ library");
  const std::string what = exercise::current_case().empty() ? "" : exercise::current_case() + ", ";
  const std::string does = __asan_get_report_access_type() != 0 ? " writes" : " reads";
  const bool is_beyond = std::strstr(__asan_get_report_description(), "buffer-overflow") != nullptr;
  exercise::fail("In " + where + ", " + what + "the program" + does +
                 (is_beyond ? " what is beyond the end of a vector or array, or before its "
                              "beginning: compare the index with the size."
                            : " memory that it does not have: is an index far too large or "
                              "negative, or has the memory been freed?"));
}
#endif

int main() {
#if defined(EXERCISE_CUDA) && !defined(EXERCISE_ON_GPU)
  cuda_on_cpu::watch_faults();
  cuda_on_cpu::settings().protect = true;  // as on a computer with a GPU, the host cannot read it
#endif
  check();
  std::puts("done");
  return 0;
}

#endif
