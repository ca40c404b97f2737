/// @file
/// The switches of CUDA on the CPU. They are environment variables, read once when the runtime is
/// first used; a value that means nothing ends the program with a sentence and exit code 2.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vector_types.h"

namespace cuda_on_cpu {

/// In which order threads start.
enum class ThreadOrder { forward, reverse, random };

/// What is done about kernels that take long: nothing; how far they are is said; the program is ended
/// if no block has ended for some time.
enum class Progress { off, on, limit };

/// Each is read from the environment variable that its comment names.
struct Settings {
  /// STAGEWISE_CPU_STREAMS=eager|lazy: whether work runs when it is enqueued, or only when somebody
  /// waits for it, so that a missing wait shows.
  bool lazy_streams = false;
  /// STAGEWISE_CPU_THREAD_ORDER=forward|reverse|random: in which order the threads of a block, the
  /// blocks of a grid and the independent nodes of a graph run. Results must not depend on it.
  ThreadOrder thread_order = ThreadOrder::forward;
  /// STAGEWISE_CPU_SEED=N: for the random order, and for the NaN that unset memory holds.
  std::uint64_t seed = 1;
  /// STAGEWISE_CPU_STRICT_BARRIERS=on|off: whether a barrier needs every thread of the block, or threads that have
  /// ended count as arrived, as devices since Volta have it.
  bool strict_barriers = true;
  /// STAGEWISE_CPU_PROTECT=on|off: whether device memory is unreadable while host code runs.
  bool protect = false;
  /// Whether that may not take long: in programs of compile.sh, where the variable is not set.
  bool limits_protection = false;
  /// STAGEWISE_CPU_PROGRESS=off|on|limit: whether kernels that take long say how far they are, and
  /// where a block is that does not end; with limit, that ends the program.
  Progress progress = Progress::off;
  /// STAGEWISE_CPU_WORKERS=N: OS threads that run blocks; 0, as many as the machine has for this
  /// process.
  unsigned workers = 0;
  /// STAGEWISE_CPU_DEVICES=N: how many devices there seem to be.
  int devices = 1;
  /// STAGEWISE_CPU_MULTIPROCESSORS=N: how many each of them has. Few, and the same on every
  /// machine: grids that are sized by them come out the same.
  int multiprocessors = 4;
  /// STAGEWISE_CPU_DEVICE_MEMORY=BYTES: the memory of each device.
  std::size_t device_memory = std::size_t{16} << 30;
};

/// Tests change them between launches.
Settings& settings();

/// What has happened in this process so far.
struct Counters {
  std::uint64_t allocations;  ///< of device memory
  std::uint64_t launches;     ///< of kernels, those inside of graphs included
  std::uint64_t graph_launches;
  std::uint64_t copies;                 ///< copies and fills
  std::uint64_t host_synchronizations;  ///< times that the host waited, or would have on a GPU
  std::uint64_t most_threads;           ///< of a launch; whoever sets it to 0 hears of later ones
  dim3 grid, block;                     ///< of that launch
};
/// What has happened so far; tests compare before and after.
Counters& counters();

/// Whether there is a device of that number.
bool device_exists(int device);
/// The calling thread's, as cudaSetDevice() chose it.
int current_device();

}  // namespace cuda_on_cpu
