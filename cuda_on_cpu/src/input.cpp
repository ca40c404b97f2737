/// @file
/// What a program gets from outside, under "try --check": clocks that say when it was started, and random devices, are
/// the same in all runs, so that what differs is a mistake. Clocks that only measure go on.
///
/// The linker's option --wrap brings the program's calls here.
#include <atomic>
#include <chrono>
#include <ctime>

#include <sys/time.h>

namespace {

/// A clock that each look advances, so that whoever waits for it goes on.
long long microseconds() {
  constexpr long long start = 1'700'000'000'000'000;
  static std::atomic<long long> looks{0};
  return start + 1000 * looks++;
}

}  // namespace

// By the names that the linker gives them.
std::time_t get_time(std::time_t* result) __asm__("__wrap_time");
int get_time_of_day(timeval* result, void* zone) __asm__("__wrap_gettimeofday");
std::chrono::system_clock::time_point get_system_time() __asm__("__wrap__ZNSt6chrono3_V212system_clock3nowEv");
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

/// Is std::chrono::system_clock::now().
std::chrono::system_clock::time_point get_system_time() {
  return std::chrono::system_clock::time_point(std::chrono::microseconds(microseconds()));
}

/// Is what std::random_device calls.
unsigned get_random_number(void* /*device*/) {
  static std::atomic<unsigned> state{1};
  return (state += 0x9E3779B9U) * 0x85EBCA6BU;
}
