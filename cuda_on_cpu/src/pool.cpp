#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <vector>

#include <cuda_runtime_api.h>
#include <sched.h>
#include <sys/mman.h>

#include "cuda_on_cpu/block.hpp"
#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/host_memory.hpp"
#include "cuda_on_cpu/observer.hpp"
#include "cuda_on_cpu/progress.hpp"
#include "cuda_on_cpu/settings.hpp"

namespace cuda_on_cpu {
namespace {

using Clock = std::chrono::steady_clock;

/// Waking a thread takes longer than a small kernel does: the caller begins alone, and calls for
/// help once it foresees this much more work.
constexpr Clock::duration worth_waking_for = std::chrono::microseconds(60);

/// A thread that has run a block looks for more work this long before it goes to sleep.
class Pool {
 public:
  void run(RunningLaunch& launch) {
    const unsigned workers = worker_count();
    launch_ = &launch;
    start_ = Clock::now();
    may_call_ = workers > 1 && launch.blocks > 1;
    make_workers(workers);
    workers_[0]->run_blocks(
        launch, [](void* pool) { static_cast<Pool*>(pool)->call_for_help(); }, this);
    if (called_) {
      std::unique_lock lock(mutex_);
      posted_ = nullptr;
      finished_.wait(lock, [this] { return active_ == 0; });
      called_ = false;
    }
  }

  void run_grid(RunningLaunch& launch) {
    make_workers(1);
    workers_[0]->run_grid(launch);
  }

 private:
  /// As many as there is memory for: one, which there must be, gets the work done, too.
  /// @throws std::bad_alloc
  void make_workers(unsigned count) {
    while (workers_.size() < count) {
      try {
        workers_.push_back(std::make_unique<Worker>(static_cast<unsigned>(workers_.size())));
      } catch (const std::bad_alloc&) {
        if (workers_.empty()) throw;
        return;
      }
    }
  }

  void call_for_help() {
    if (!may_call_ || called_) return;
    const std::uint64_t done = launch_->next_block;
    if (done >= launch_->blocks) return;
    const auto left =
        (Clock::now() - start_) * static_cast<std::int64_t>(launch_->blocks - done) / static_cast<std::int64_t>(done);
    if (left < worth_waking_for) return;
    const unsigned helpers =
        static_cast<unsigned>(std::min<std::uint64_t>(workers_.size() - 1, launch_->blocks - done));
    while (threads_ < helpers && start_thread(*workers_[threads_ + 1])) ++threads_;
    if (threads_ == 0) {
      may_call_ = false;
      return;
    }
    called_ = true;
    {
      const std::lock_guard lock(mutex_);
      posted_ = launch_;
      wanted_ = std::min(helpers, threads_);
      ++launches_;
    }
    work_.notify_all();
  }

  /// Says whether it could be started and has set itself up; if not, the others do the work. The C
  /// library ends the program if a thread's own variables find no memory, so there must be some.
  bool start_thread(Worker& worker) {
    if (!has_room_for_thread()) return false;
    // Signals that are meant for the program are not for these threads.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGURG}) sigdelset(&all, signal);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = true;
    is_set_up_.reset();
    try {
      std::thread([this, &worker] {
        if (set_up()) help(worker);
      }).detach();
    } catch (const std::exception&) {  // no thread, or no memory for one
      started = false;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (!started) return false;
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [this] { return is_set_up_.has_value(); });
    if (*is_set_up_) ++helping_threads;
    return *is_set_up_;
  }

  static bool has_room_for_thread() {
    constexpr std::size_t bytes = std::size_t{32} << 20;  // its stack, its variables, its heap
    void* const room = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return room != MAP_FAILED && munmap(room, bytes) == 0;
  }

  /// A thread's own beginning.
  bool set_up() {
    bool done = true;
    try {
      watch_faults();
    } catch (const std::bad_alloc&) {
      done = false;
    }
    const std::lock_guard lock(mutex_);
    is_set_up_ = done;
    finished_.notify_one();
    return done;
  }

  [[noreturn]] void help(Worker& worker) {
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
      work_.wait(lock, [&] { return posted_ != nullptr && launches_ != seen && wanted_ > 0; });
      seen = launches_;
      --wanted_;
      ++active_;
      RunningLaunch& launch = *posted_;
      lock.unlock();
      try {
        worker.run_blocks(
            launch, [](void*) {}, nullptr);
      } catch (const std::bad_alloc&) {
        launch.fail(cudaErrorMemoryAllocation);
      }
      lock.lock();
      if (--active_ == 0) finished_.notify_one();
    }
  }

  std::vector<std::unique_ptr<Worker>> workers_;  ///< the first is the caller's
  unsigned threads_ = 0;

  // Of the launch that runs, for the caller alone.
  RunningLaunch* launch_ = nullptr;
  Clock::time_point start_;
  bool may_call_ = false;
  bool called_ = false;

  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable finished_;
  RunningLaunch* posted_ = nullptr;
  std::uint64_t launches_ = 0;
  unsigned wanted_ = 0;
  unsigned active_ = 0;
  std::optional<bool> is_set_up_;  ///< of the thread that is being started
};

/// Never destroyed: its threads sleep in it while the program ends.
Pool* pool = nullptr;

unsigned count_workers() {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  unsigned count = std::thread::hardware_concurrency();
  if (sched_getaffinity(0, sizeof processors, &processors) == 0) {
    count = static_cast<unsigned>(CPU_COUNT(&processors));
  }
  for (const char* const variable : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) {
    const char* const ranks = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe)
    if (ranks == nullptr) continue;
    const long value = std::strtol(ranks, nullptr, 10);
    if (value > 1) count /= static_cast<unsigned>(value);
    break;
  }
  return std::max(count, 1U);
}

}  // namespace

unsigned worker_count() {
  static const unsigned counted = count_workers();
  if (observer != nullptr) return 1;
  return settings().workers > 0 ? settings().workers : counted;
}

void run(RunningLaunch& launch) {
  try {
    if (pool == nullptr) pool = new Pool;
    watch_faults();
    if (launch.configuration.cooperative) {
      pool->run_grid(launch);
    } else {
      pool->run(launch);
    }
  } catch (const std::bad_alloc&) {
    launch.fail(cudaErrorMemoryAllocation);
  }
}

void forget_pool() {
  pool = nullptr;
  helping_threads = 0;
  forget_watch();
}

}  // namespace cuda_on_cpu
