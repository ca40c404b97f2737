/// @file
/// What a program gets from outside, under "try --check": clocks that say when it was started, and random devices, are
/// the same in all runs, so that what differs is a mistake. Clocks of the host that only measure go on; those of
/// kernels count how often their thread has looked.
///
/// The linker's option --wrap brings the program's calls here.
#include <atomic>
#include <chrono>
#include <ctime>
#include <unordered_map>

#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "cuda_on_cpu/block.hpp"
#include "cuda_on_cpu/findings.hpp"

namespace {

/// A clock that each look advances, so that whoever waits for it goes on.
long long microseconds() {
  constexpr long long start = 1'700'000'000'000'000;
  static std::atomic<long long> looks{0};
  return start + 1000 * looks++;
}

/// The running thread of a kernel looks at its clock.
long long nanoseconds_of_thread() {
  struct Looks {
    const cuda_on_cpu::RunningLaunch* launch;
    std::uint64_t block;
    unsigned thread;
    long long count;
  };
  thread_local std::unordered_map<const cuda_on_cpu::Fiber*, Looks> looks;
  const cuda_on_cpu::Fiber& fiber = *cuda_on_cpu::this_worker->running();
  const cuda_on_cpu::RunningLaunch* const launch = &cuda_on_cpu::this_worker->launch();
  Looks& mine = looks[&fiber];
  const std::uint64_t block = number_of(*fiber.block);
  if (mine.launch != launch || mine.block != block || mine.thread != fiber.thread)
    mine = {launch, block, fiber.thread, 0};
  return 1000 * ++mine.count;
}

}  // namespace

// By the names that the linker gives them.
std::time_t get_time(std::time_t* result) __asm__("__wrap_time");
int get_time_of_day(timeval* result, void* zone) __asm__("__wrap_gettimeofday");
std::chrono::system_clock::time_point get_system_time() __asm__("__wrap__ZNSt6chrono3_V212system_clock3nowEv");
std::clock_t get_clock() __asm__("__wrap_clock");
int get_time_of_clock(clockid_t clock, timespec* result) __asm__("__wrap_clock_gettime");
unsigned get_random_number(void* device) __asm__("__wrap__ZNSt13random_device9_M_getvalEv");

/// Is time().
std::time_t get_time(std::time_t* result) {
  const std::time_t seconds = microseconds() / 1'000'000;
  if (result != nullptr) *result = seconds;
  return seconds;
}

/// Is gettimeofday().
int get_time_of_day(timeval* result, void* /*zone*/) {
  const long long now = microseconds();
  *result = {now / 1'000'000, now % 1'000'000};
  return 0;
}

/// Is clock_gettime(), and so clock64().
int get_time_of_clock(clockid_t clock, timespec* result) {
  if (cuda_on_cpu::runs_in_kernel()) {
    const long long now = nanoseconds_of_thread();
    *result = {now / 1'000'000'000, now % 1'000'000'000};
  } else if (clock == CLOCK_REALTIME) {
    const long long now = microseconds();
    *result = {now / 1'000'000, now % 1'000'000 * 1000};
  } else {
    return static_cast<int>(syscall(SYS_clock_gettime, clock, result));
  }
  return 0;
}

/// Is clock().
std::clock_t get_clock() {
  if (cuda_on_cpu::runs_in_kernel()) return nanoseconds_of_thread();
  timespec used = {};
  syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &used);
  return used.tv_sec * CLOCKS_PER_SEC + used.tv_nsec / (1'000'000'000 / CLOCKS_PER_SEC);
}

/// Is std::chrono::system_clock::now().
std::chrono::system_clock::time_point get_system_time() {
  return std::chrono::system_clock::time_point(std::chrono::microseconds(microseconds()));
}

/// Is what std::random_device calls.
unsigned get_random_number(void* /*device*/) {
  static std::atomic<unsigned> state{1};
  return (state += 0x9E3779B9U) * 0x85EBCA6BU;
}
