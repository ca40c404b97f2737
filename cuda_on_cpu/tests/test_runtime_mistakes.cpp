#undef NDEBUG  // the assertions of kernels are part of the test

#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "cooperative_groups.h"
#include "runtime.hpp"

// The sanitizers see some of the mistakes first, in their own way.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool address_sanitizer = true;
#else
constexpr bool address_sanitizer = false;
#endif

namespace cuda_on_cpu {
namespace {

/// "file:line" of the line of this file that ends with the comment "mistake: NAME".
std::string mistake(const std::string& name) {
  std::ifstream file(__FILE__);
  std::string text;
  for (unsigned line = 1; std::getline(file, text); ++line) {
    if (text.ends_with("// mistake: " + name)) return here(line, __FILE__);
  }
  return "no line is marked as the mistake " + name;
}

void barrier_for_some(int n) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= n) return;
  __syncthreads();  // mistake: barrier_for_some
}

void two_barriers() {
  if (threadIdx.x < 10) {
    __syncthreads();  // mistake: two_barriers
  } else {
    __syncthreads();  // mistake: two_barriers_other
  }
}

void warp_barrier_for_some() {
  if (threadIdx.x % 32 < 20) __syncwarp();  // mistake: warp_barrier_for_some
}

void wrong_mask() {
  __shfl_sync(0xffffU, 1, 0);  // mistake: wrong_mask
}

void write_at(float* data, long index) {
  if (blockIdx.x == 2 && threadIdx.x == 5) data[index] = 1;  // mistake: write_at
}

volatile float read_result;
void read_at(const float* data, long index) {
  if (blockIdx.x == 2 && threadIdx.x == 5) read_result = data[index];  // mistake: read_at
}

void add_at(float* data, long index) {
  if (threadIdx.x == 5) atomicAdd(data + index, 1.0F);  // mistake: add_at
}

void beyond_dynamic_shared(int index) {
  float* const s = ::cuda_on_cpu::dynamic_shared<float>("s");
  if (threadIdx.x == 3) s[index] = 1;  // mistake: beyond_dynamic_shared
}

void too_much_shared() {
  auto& a = ::cuda_on_cpu::shared<double[4096]>([] {}, "a");
  auto& b = ::cuda_on_cpu::shared<double[4096]>([] {}, "b");
  a[0] = b[0] = 0;
}

void static_and_dynamic_shared() {
  auto& a = ::cuda_on_cpu::shared<double[4096]>([] {}, "a");
  double* const s = ::cuda_on_cpu::dynamic_shared<double>("s");
  a[threadIdx.x] = s[threadIdx.x] = 0;
}

template <class T>
void needs_much(T* out) {
  T* const s = ::cuda_on_cpu::dynamic_shared<T>("s");
  s[threadIdx.x] = 1;
  if (out != nullptr) out[threadIdx.x] = s[threadIdx.x];
}
void needs_little() {
  ::cuda_on_cpu::dynamic_shared<int>("s")[threadIdx.x] = 1;
}

void grid_barrier_for_some() {
  if (threadIdx.x < 10) cooperative_groups::this_grid().sync();
}

void divide(int* data, int by) {
  if (threadIdx.x == 7) data[0] = data[1] / by;  // mistake: divide
}

void check_index(int n) {
  assert(static_cast<int>(threadIdx.x) < n);  // mistake: check_index
}

void stop() {
  if (threadIdx.x == 1) __trap();  // mistake: stop
}

__attribute__((noinline)) int recurse(volatile int* depth) {
  volatile int here[256];
  here[*depth % 256] = *depth;
  if (*depth < 0) return 0;
  *depth = *depth + 1;
  return recurse(depth) + here[0];
}
void overflow(int* data) {
  if (threadIdx.x == 2) data[0] = recurse(data);
}

void nothing() {}

Outcome of_write(std::size_t elements, long index) {
  return outcome_of([=] {
    float* const data = on_device(std::vector<float>(elements));
    Launch("write_at", {4, 8})([=](auto... a) { write_at(a...); }, data, index);
  });
}

#define SKIP_WHERE_ADDRESS_SANITIZER_ENDS_THE_PROGRAM() \
  if (address_sanitizer) GTEST_SKIP() << "AddressSanitizer reports this and ends the program"

TEST(Mistakes, BarrierThatNotAllThreadsReach) {
  const Outcome outcome = outcome_of([] {
    Launch("barrier_for_some", {3, 64})([=](auto... a) { barrier_for_some(a...); }, 50);
  });
  expect_says(outcome, {mistake("barrier_for_some"), "kernel 'barrier_for_some', block (",
                        "thread (0, 0, 0)", "50 threads wait at __syncthreads", "14 have exited"});
  EXPECT_EQ(outcome.error, cudaErrorLaunchFailure);
}

TEST(Mistakes, ExitedThreadsCountAsArrivedWhereBarriersAreNotStrict) {
  const WithSettings restore;
  settings().strict_barriers = false;
  const Outcome outcome = outcome_of([] {
    Launch("barrier_for_some", {3, 64})([=](auto... a) { barrier_for_some(a...); }, 50);
    Launch("warp_barrier_for_some", {3, 64})([=](auto... a) { warp_barrier_for_some(a...); });
  });
  EXPECT_EQ(outcome.text, "");
  EXPECT_EQ(outcome.error, cudaSuccess);
}

TEST(Mistakes, BarriersOnDifferentLines) {
  const Outcome outcome = outcome_of([] {
    Launch("two_barriers", {1, 64})([=](auto... a) { two_barriers(a...); });
  });
  expect_says(outcome, {mistake("two_barriers"), mistake("two_barriers_other"), "10 threads wait",
                        "54 threads wait"});
  EXPECT_EQ(outcome.error, cudaErrorLaunchFailure);
}

TEST(Mistakes, WarpBarrierThatNotAllLanesReach) {
  const Outcome outcome = outcome_of([] {
    Launch("warp_barrier_for_some", {1, 64})([=](auto... a) { warp_barrier_for_some(a...); });
  });
  expect_says(outcome, {mistake("warp_barrier_for_some"), "40 threads wait at __syncwarp",
                        "mask 0xffffffff", "24 have exited"});
  EXPECT_EQ(outcome.error, cudaErrorLaunchFailure);
}

TEST(Mistakes, MaskWithoutTheCaller) {
  const Outcome outcome = outcome_of([] {
    Launch("wrong_mask", {1, 32})([=](auto... a) { wrong_mask(a...); });
  });
  expect_says(outcome, {mistake("wrong_mask"), "thread (16, 0, 0)", "0x0000ffff", "own lane 16"});
  EXPECT_EQ(outcome.error, cudaErrorLaunchFailure);
}

TEST(Mistakes, WriteBeyondAnAllocation) {
  const Outcome outcome = of_write(1000, 1000);
  expect_says(outcome, {mistake("write_at"), "kernel 'write_at', block (2, 0, 0), thread (5, 0, 0)",
                        "writes address", "0 bytes beyond the end of the 4000 bytes allocated in",
                        "test_runtime_mistakes.cpp:"});
  EXPECT_EQ(outcome.error, cudaErrorIllegalAddress);
}

TEST(Mistakes, WriteFarBeforeAnAllocation) {
  const Outcome outcome = of_write(1024, -1);
  expect_says(outcome,
              {mistake("write_at"), "writes address", "4 bytes before the beginning of the 4096"});
  EXPECT_EQ(outcome.error, cudaErrorIllegalAddress);
}

TEST(Mistakes, WriteIntoTheRestOfSixteenBytes) {
  SKIP_WHERE_ADDRESS_SANITIZER_ENDS_THE_PROGRAM();
  const Outcome outcome = of_write(1001, 1001);
  expect_says(outcome,
              {"kernel 'write_at'", "has written 0 bytes beyond the end of the 4004 bytes"});
  EXPECT_EQ(outcome.error, cudaErrorIllegalAddress);
}

TEST(Mistakes, ReadBeyondAnAllocation) {
  const Outcome outcome = outcome_of([] {
    const float* const data = on_device(std::vector<float>(1000));
    Launch("read_at", {4, 8})([=](auto... a) { read_at(a...); }, data, 1003L);
  });
  expect_says(outcome,
              {mistake("read_at"), "thread (5, 0, 0)", "reads address", "12 bytes beyond the end"});
  EXPECT_EQ(outcome.error, cudaErrorIllegalAddress);
}

TEST(Mistakes, AtomicBeyondAnAllocationNamesTheCall) {
  const Outcome outcome = outcome_of([] {
    float* const data = on_device(std::vector<float>(1000));
    Launch("add_at", {1, 8})([=](auto... a) { add_at(a...); }, data, 1000L);
  });
  expect_says(outcome, {mistake("add_at"), "0 bytes beyond the end"});
}

TEST(Mistakes, NullPointer) {
  SKIP_WHERE_ADDRESS_SANITIZER_ENDS_THE_PROGRAM();
  const Outcome outcome = outcome_of([] {
    float* const data = nullptr;
    Launch("write_at", {4, 8})([=](auto... a) { write_at(a...); }, data, 3L);
  });
  expect_says(outcome, {mistake("write_at"), "thread (5, 0, 0)",
                        "writes through a null pointer (address 0xc)"});
  EXPECT_EQ(outcome.error, cudaErrorIllegalAddress);
}

TEST(Mistakes, WildPointer) {
  SKIP_WHERE_ADDRESS_SANITIZER_ENDS_THE_PROGRAM();
  const Outcome outcome = outcome_of([] {
    auto* const data = reinterpret_cast<float*>(0x4142434445464748);
    Launch("write_at", {4, 8})([=](auto... a) { write_at(a...); }, data, 0L);
  });
  expect_says(outcome, {mistake("write_at"), "thread (5, 0, 0)", "no address at all"});
  EXPECT_EQ(outcome.error, cudaErrorIllegalAddress);
}

TEST(Mistakes, UseAfterFree) {
  unsigned freed = 0;
  const Outcome outcome = outcome_of([&] {
    float* const data = on_device(std::vector<float>(1000));
    freed = __LINE__, cudaFree(data);
    Launch("write_at", {4, 8})([=](auto... a) { write_at(a...); }, data, 3L);
  });
  expect_says(outcome, {mistake("write_at"), "which have been freed in", here(freed)});
  EXPECT_EQ(outcome.error, cudaErrorIllegalAddress);
}

TEST(Mistakes, BeyondDynamicSharedMemory) {
  const Outcome outcome = outcome_of([] {
    Launch("beyond", {1, 8, 8 * sizeof(float)})([=](auto... a) { beyond_dynamic_shared(a...); }, 8);
  });
  expect_says(outcome, {mistake("beyond_dynamic_shared"), "thread (3, 0, 0)",
                        "outside of the 32 bytes of dynamic shared memory"});
  EXPECT_EQ(outcome.error, cudaErrorIllegalAddress);
}

TEST(Mistakes, DynamicSharedMemoryThatTheLaunchForgot) {
  const Outcome outcome = outcome_of([] {
    Launch("beyond", {1, 8})([=](auto... a) { beyond_dynamic_shared(a...); }, 0);
  });
  expect_says(outcome, {mistake("beyond_dynamic_shared"), "the launch gave it no dynamic part"});
}

TEST(Mistakes, TooMuchStaticSharedMemory) {
  const Outcome outcome = outcome_of([] {
    Launch("too_much_shared", {1, 8})([=](auto... a) { too_much_shared(a...); });
  });
  expect_says(outcome, {"'b'", "65536 bytes", "49152"});
  EXPECT_EQ(outcome.error, cudaErrorInvalidValue);
}

TEST(Mistakes, DivisionByZero) {
  SKIP_WHERE_ADDRESS_SANITIZER_ENDS_THE_PROGRAM();
  const Outcome outcome = outcome_of([] {
    int* const data = on_device(std::vector<int>(2));
    Launch("divide", {1, 8})([=](auto... a) { divide(a...); }, data, 0);
  });
  expect_says(outcome, {mistake("divide"), "thread (7, 0, 0)", "division that has no result"});
  EXPECT_EQ(outcome.error, cudaErrorLaunchFailure);
}

TEST(Mistakes, DivisionOfTheSmallestNumber) {
  SKIP_WHERE_ADDRESS_SANITIZER_ENDS_THE_PROGRAM();
  const Outcome outcome = outcome_of([] {
    int* const data = on_device(std::vector<int>{0, std::numeric_limits<int>::min()});
    Launch("divide", {1, 8})([=](auto... a) { divide(a...); }, data, -1);
  });
  expect_says(outcome, {mistake("divide"), "thread (7, 0, 0)", "the smallest number by -1"});
  EXPECT_EQ(outcome.error, cudaErrorLaunchFailure);
}

TEST(Mistakes, FailedAssertion) {
  const Outcome outcome = outcome_of([] {
    Launch("check_index", {1, 8})([=](auto... a) { check_index(a...); }, 6);
  });
  expect_says(outcome, {mistake("check_index"), "thread (6, 0, 0)", "threadIdx.x) < n' failed"});
  EXPECT_EQ(outcome.error, cudaErrorAssert);
}

TEST(Mistakes, Trap) {
  const Outcome outcome = outcome_of([] {
    Launch("stop", {1, 8})([=](auto... a) { stop(a...); });
  });
  expect_says(outcome, {mistake("stop"), "thread (1, 0, 0)", "__trap()"});
  EXPECT_EQ(outcome.error, cudaErrorLaunchFailure);
}

TEST(Mistakes, EndlessRecursion) {
  SKIP_WHERE_ADDRESS_SANITIZER_ENDS_THE_PROGRAM();
  const Outcome outcome = outcome_of([] {
    int* const data = on_device(std::vector<int>(2));
    Launch("overflow", {1, 8})([=](auto... a) { overflow(a...); }, data);
  });
  expect_says(outcome, {"kernel 'overflow'", "thread (2, 0, 0)", "endless recursion"});
  EXPECT_EQ(outcome.error, cudaErrorIllegalAddress);
}

TEST(Mistakes, AnErrorInAKernelStaysUntilReset) {
  testing::internal::CaptureStderr();
  Launch("stop", {1, 8})([=](auto... a) { stop(a...); });
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  void* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(&pointer, 4), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&pointer, 4), cudaSuccess);
  EXPECT_EQ(cudaFree(pointer), cudaSuccess);
  testing::internal::GetCapturedStderr();
}

TEST(Mistakes, BadLaunches) {
  unsigned line = 0;
  const auto code = [&](const LaunchConfiguration& configuration,
                        const std::vector<std::string>& parts) {
    const Outcome outcome = outcome_of([&] {
      line = __LINE__, Launch("nothing", configuration)([=](auto... a) { nothing(a...); });
    });
    expect_says(outcome, parts);
    expect_contains(outcome.text, here(line));
    return outcome.error;
  };
  EXPECT_EQ(code({1, 2048}, {"kernel 'nothing'", "2048 threads", "1024"}),
            cudaErrorInvalidConfiguration);
  EXPECT_EQ(code({1, dim3(1, 1, 65)}, {"(1, 1, 65)", "64"}), cudaErrorInvalidConfiguration);
  EXPECT_EQ(code({0, 32}, {"(0, 1, 1)"}), cudaErrorInvalidConfiguration);
  EXPECT_EQ(code({dim3(1, 65536), 32}, {"65536", "65535"}), cudaErrorInvalidConfiguration);
  EXPECT_EQ(code({1, 32, 50000}, {"50000 bytes", "49152", "cudaFuncSetAttribute"}),
            cudaErrorInvalidValue);
}

TEST(Mistakes, MoreSharedMemoryMayBeAskedFor) {
  EXPECT_EQ(cudaFuncSetAttribute(beyond_dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 60000),
            cudaSuccess);
  const Outcome outcome = outcome_of([] {
    Launch("beyond_dynamic_shared", {1, 8, 60000})([=](auto... a) { beyond_dynamic_shared(a...); },
                                                   14999);
  });
  EXPECT_EQ(outcome.text, "");
  EXPECT_EQ(outcome.error, cudaSuccess);
  EXPECT_EQ(
      cudaFuncSetAttribute(beyond_dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 0),
      cudaSuccess);
}

TEST(Mistakes, StaticAndDynamicSharedMemoryTogether) {
  const auto launch = [](std::size_t dynamic) {
    return outcome_of([=] {
      Launch("static_and_dynamic_shared",
             {1, 8, dynamic})([=](auto... a) { static_and_dynamic_shared(a...); });
    });
  };
  EXPECT_EQ(launch(16384).error, cudaSuccess);
  const Outcome outcome = launch(16392);
  expect_says(outcome, {"'a'", "32768 bytes", "16392 dynamic", "49152", "cudaFuncSetAttribute()"});
  EXPECT_EQ(outcome.error, cudaErrorInvalidValue);
  const auto allow = [](int bytes) {
    EXPECT_EQ(cudaFuncSetAttribute(static_and_dynamic_shared,
                                   cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
              cudaSuccess);
  };
  allow(40000);
  EXPECT_EQ(launch(40000).text, "");
  allow(0);
}

TEST(Mistakes, SharedMemoryIsAllowedToOneKernelAndNotToAnother) {
  EXPECT_EQ(
      cudaFuncSetAttribute(needs_much<float>, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000),
      cudaSuccess);
  EXPECT_EQ(cudaFuncSetAttribute(needs_little, cudaFuncAttributeMaxDynamicSharedMemorySize, 50000),
            cudaSuccess);
  EXPECT_EQ(outcome_of([] {
              Launch("needs_much<float>", {1, 8, 60000})(
                  [=](auto... a) { needs_much<float>(a...); }, static_cast<float*>(nullptr));
            }).text,
            "");
  const Outcome outcome = outcome_of([] {
    Launch("needs_little", {1, 8, 60000})([=](auto... a) { needs_little(a...); });
  });
  expect_says(outcome, {"60000 bytes", "may have 50000"});
  EXPECT_EQ(outcome.error, cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(needs_much<float>, cudaFuncAttributeMaxDynamicSharedMemorySize, 0),
            cudaSuccess);
  EXPECT_EQ(cudaFuncSetAttribute(needs_little, cudaFuncAttributeMaxDynamicSharedMemorySize, 0),
            cudaSuccess);
}

TEST(Mistakes, AGridBarrierThatNotAllThreadsReach) {
  const auto launch = [] {
    return outcome_of([] { cudaLaunchCooperativeKernel(grid_barrier_for_some, 2, 32, nullptr); });
  };
  const Outcome outcome = launch();
  expect_says(outcome, {"not all threads reach this_grid().sync()", "22 have exited"});
  EXPECT_EQ(outcome.error, cudaErrorLaunchFailure);
  const WithSettings restored;
  settings().strict_barriers = false;
  EXPECT_EQ(launch().text, "") << "those that have exited do not count";
}

TEST(Mistakes, TooLargeACooperativeGrid) {
  const Outcome outcome =
      outcome_of([] { cudaLaunchCooperativeKernel(nothing, 100, 1024, nullptr); });
  expect_says(outcome, {"cooperative grid of (100, 1, 1)", "at most 8 such blocks"});
  EXPECT_EQ(outcome.error, cudaErrorCooperativeLaunchTooLarge);
}

TEST(Mistakes, WrongFrees) {
  float* data = nullptr;
  Outcome outcome = outcome_of([&] {
    data = on_device(std::vector<float>(10));
    cudaFree(data);
    cudaFree(data);
  });
  expect_says(outcome, {"cudaFree()", "have been freed before, in"});
  EXPECT_EQ(outcome.error, cudaErrorInvalidValue);
  outcome = outcome_of([&] {
    data = on_device(std::vector<float>(10));
    cudaFree(data + 1);
  });
  expect_says(outcome, {"not the beginning of an allocation", "at byte 4 of the 40 bytes"});
  outcome = outcome_of([&] {
    float value = 0;
    cudaFree(&value);
  });
  expect_says(outcome, {"does not come from cudaMalloc()"});
}

TEST(Mistakes, CopiesBeyondAnAllocation) {
  unsigned line = 0;
  std::vector<float> host(20);
  Outcome outcome = outcome_of([&] {
    float* const data = on_device(std::vector<float>(10));
    line = __LINE__, cudaMemcpy(data + 2, host.data(), 40, cudaMemcpyHostToDevice);
  });
  expect_says(outcome,
              {here(line), "cudaMemcpy()", "the destination begins at byte 8 of the 40 bytes",
               "32 bytes are left, but 40 are to be written"});
  EXPECT_EQ(outcome.error, cudaErrorInvalidValue);
  outcome = outcome_of([&] {
    float* const data = on_device(std::vector<float>(10));
    cudaMemcpy(host.data(), data, 10, cudaMemcpyHostToDevice);
  });
  expect_says(outcome, {"the destination should be device memory, but is memory of the host"});
  EXPECT_EQ(outcome.error, cudaErrorInvalidValue);
}

TEST(MistakesDeathTest, HostCodeThatReadsDeviceMemory) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  for (const bool after_a_launch : {false, true}) {
    EXPECT_EXIT(
        {
          settings().protect = true;
          float* const data = on_device(std::vector<float>(10));
          if (after_a_launch) Launch("nothing", {1, 1})([=](auto... a) { nothing(a...); });
          std::exit(data[3] > 0 ? 3 : 4);
        },
        testing::ExitedWithCode(1),
        "test_runtime_mistakes.cpp:[0-9]+: host code read device memory at 0x[0-9a-f]+, at byte 12 "
        "of the 40 bytes allocated in .*; use cudaMemcpy\\(\\)");
  }
}

TEST(MistakesDeathTest, OtherFaultsOfHostCodeAreLeftAlone) {
  if (address_sanitizer) GTEST_SKIP() << "the sanitizer reports it";
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        Launch("nothing", {1, 1})([=](auto... a) { nothing(a...); });
        volatile std::size_t wild = 16;
        *reinterpret_cast<volatile int*>(wild) = 1;
      },
      testing::KilledBySignal(SIGSEGV), "");
}

/// `kill -SEGV` is no fault: neither of the host's code nor of a kernel's.
TEST(MistakesDeathTest, SignalsThatSomebodySendsAreNoFaults) {
  if (address_sanitizer) GTEST_SKIP() << "the sanitizer reports it";
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        Launch("nothing", {1, 1})([=](auto... a) { nothing(a...); });
        kill(getpid(), SIGSEGV);
      },
      testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(Launch("killing", {1, 1})([=](auto...) { pthread_kill(pthread_self(), SIGSEGV); }),
              testing::KilledBySignal(SIGSEGV), "");
}

}  // namespace
}  // namespace cuda_on_cpu
