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
#include <functional>
#include <random>
#include <string>
#include <vector>

#ifdef EXERCISE_CUDA
#include <cuda_runtime.h>

#include "cuda_on_cpu/counters.hpp"
#include "cuda_on_cpu/settings.hpp"
#endif
#ifdef EXERCISE_MPI
#include <csignal>
#include <cstring>

#include <mpi.h>
#include <unistd.h>
#endif

/// Each exercise's own.
void check();

namespace exercise {

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
  std::printf("ok    %d rank%s: ", ranks(), ranks() == 1 ? "" : "s");
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
  /// The place is that of the array's declaration, for what is said of an access beyond its end.
  explicit DeviceArray(std::size_t size, const char* file = __builtin_FILE(),
                       unsigned line = __builtin_LINE())
      : size_(size) {
    cudaMalloc(reinterpret_cast<void**>(&data_), size * sizeof(T), file, line);
  }
  explicit DeviceArray(const std::vector<T>& values, const char* file = __builtin_FILE(),
                       unsigned line = __builtin_LINE())
      : DeviceArray(values.size(), file, line) {
    cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice);
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() { return data_; }

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
};

/// Whether this run counts; another one looks for races instead.
inline bool is_counting() {
  const char* const observed = std::getenv("STAGEWISE_CPU_OBSERVE");
  return observed == nullptr;
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
  cuda_on_cpu::count_accesses();
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
         .bank_conflicts = number(shared_loads.conflicts + shared_stores.conflicts)});
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

inline void note_sent(int count, MPI_Datatype type) {
  messages.sent += 1;
  messages.sent_bytes += bytes_of(count, type);
}

inline void note_collective(double given_bytes, double got_bytes) {
  messages.collectives += 1;
  messages.given_bytes += given_bytes;
  messages.got_bytes += got_bytes;
}

/// "on rank 1 of 3".
inline std::string here() {
  return "on rank " + std::to_string(rank()) + " of " + std::to_string(ranks());
}

/// "1 message", "2 messages".
inline std::string counted(double number, const std::string& word) {
  return text(number) + " " + word + (number == 1 ? "" : "s");
}

inline const char* too_late = "";

/// Ends the check with this sentence if it has not got further after some seconds. The time of the
/// last call counts.
inline void limit_time(unsigned seconds, const char* sentence) {
  too_late = sentence;
  std::signal(SIGALRM, [](int) {
    for (const char* const part : {"fail  ", too_late, "\n"}) {
      if (write(STDOUT_FILENO, part, std::strlen(part)) < 0) break;
    }
    _exit(1);
  });
  alarm(seconds);
}

/// Says what MPI refuses.
inline void explain_error(MPI_Comm* /*comm*/, int* error, ...) {
  char reason[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(*error, reason, &length);
  fail("MPI refuses a call " + here() + ": " + reason + ".");
}

inline bool is_done = false;

/// Says that a rank has crashed, or ended itself.
inline void explain_crashes() {
  std::atexit([] {
    if (!is_done) fail("A rank has ended the program; its caller is to decide what to do.");
  });
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE}) {
    std::signal(number, [](int reason) {
      const char* const sentence =
          reason == SIGFPE    ? "fail  A rank has crashed: it has divided an integer by zero.\n"
          : reason == SIGABRT ? "fail  A rank has crashed: a check of the C++ library has failed, "
                                "such as that an index is below the size of the vector.\n"
                              : "fail  A rank has crashed: it has used memory that it does not "
                                "have, such as an index beyond the end of a vector.\n";
      if (write(STDOUT_FILENO, sentence, std::strlen(sentence)) < 0) _exit(2);
      _exit(1);
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
  exercise::note_sent(count, type);
  return PMPI_Send(data, count, type, to, tag, comm);
}
int MPI_Ssend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  exercise::note_sent(count, type);
  return PMPI_Ssend(data, count, type, to, tag, comm);
}
int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  exercise::note_sent(count, type);
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}
int MPI_Sendrecv(const void* data, int count, MPI_Datatype type, int to, int tag, void* received,
                 int received_count, MPI_Datatype received_type, int from, int received_tag,
                 MPI_Comm comm, MPI_Status* status) {
  exercise::note_sent(count, type);
  return PMPI_Sendrecv(data, count, type, to, tag, received, received_count, received_type, from,
                       received_tag, comm, status);
}
int MPI_Sendrecv_replace(void* data, int count, MPI_Datatype type, int to, int tag, int from,
                         int received_tag, MPI_Comm comm, MPI_Status* status) {
  exercise::note_sent(count, type);
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

int main() {
  check();
  std::puts("done");
  return 0;
}

#endif
