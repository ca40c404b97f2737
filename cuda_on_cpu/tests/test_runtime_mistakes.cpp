#undef NDEBUG  // the assertions of kernels are part of the test

#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "cooperative_groups.h"
#include "runtime.hpp"

// Mistakes beside those of the program `mistakes`. The sanitizers see some of them first, in their
// own way.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool address_sanitizer = true;
#else
constexpr bool address_sanitizer = false;
#endif

namespace cuda_on_cpu {
namespace {

/// "file:line" of the line of this file that ends with the comment "mistake: NAME".
std::string line_of(const std::string& name) {
  std::ifstream file(__FILE__);
  std::string text;
  for (unsigned line = 1; std::getline(file, text); ++line) {
    if (text.ends_with("// mistake: " + name)) return here(line, __FILE__);
  }
  return "no line is marked as the mistake " + name;
}

void barrier_for_some(int n) {
  if (static_cast<int>(threadIdx.x) < n) __syncthreads();
}

void warp_barrier_for_some() {
  if (threadIdx.x % 32 < 20) __syncwarp();  // mistake: warp_barrier
}

void wrong_mask() {
  __shfl_sync(0xffffU, 1, 0);  // mistake: mask
}

void write_at(float* data, long index) {
  if (blockIdx.x == 2 && threadIdx.x == 5) data[index] = 1;  // mistake: write
}

void write_dynamic(int index) {
  float* const s = ::cuda_on_cpu::dynamic_shared<float>("s");
  if (threadIdx.x == 3) s[index] = 1;  // mistake: dynamic
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

void grid_barrier_for_some() {
  if (threadIdx.x < 10) cooperative_groups::this_grid().sync();
}

void divide(int* data, int by) {
  if (threadIdx.x == 7) data[0] = data[1] / by;  // mistake: divide
}

void stop() {
  if (threadIdx.x == 1) __trap();  // mistake: trap
}

void nothing() {}

template <class... Arguments>
void launch(const char* name, const LaunchConfiguration& configuration,
            void (*kernel)(Arguments...), Arguments... arguments) {
  Launch(name, configuration)([=](auto... a) { kernel(a...); }, arguments...);  // mistake: launch
}

/// A launch for later.
template <class... Arguments>
std::function<void()> launching(const char* name, const LaunchConfiguration& configuration,
                                void (*kernel)(Arguments...), Arguments... arguments) {
  return [=] { launch(name, configuration, kernel, arguments...); };
}

void launch_write(float* data, long index) {
  launch("write_at", {4, 8}, write_at, data, index);
}

void divide_by(const std::vector<int>& values, int by) {
  launch("divide", {1, 8}, divide, on_device(values), by);
}

float* floats(std::size_t n) {
  return on_device(std::vector<float>(n));
}

struct Mistake {
  std::string name;
  std::function<void()> make;
  std::vector<std::string> said;
  cudaError_t error;
  bool ends_address_sanitizer = false;
};

std::ostream& operator<<(std::ostream& out, const Mistake& mistake) {
  return out << mistake.name;
}

std::vector<Mistake> mistakes() {
  return {
      {"WarpBarrierThatNotAllLanesReach",
       launching("warp_barrier_for_some", {1, 64}, warp_barrier_for_some),
       {line_of("warp_barrier"), "of the warp reach __syncwarp: 20 threads wait", "mask 0xffffffff",
        "12 have exited"},
       cudaErrorLaunchFailure},
      {"MaskWithoutTheCaller",
       launching("wrong_mask", {1, 32}, wrong_mask),
       {line_of("mask"), "thread (16, 0, 0)", "0x0000ffff", "own lane 16"},
       cudaErrorLaunchFailure},
      {"WriteIntoTheRestOfSixteenBytes",
       [] { launch_write(floats(1001), 1001); },
       {"kernel 'write_at'", "has written 0 bytes beyond the end of the 4004 bytes"},
       cudaErrorIllegalAddress,
       true},
      {"WriteIntoTheSurroundings",
       [] {
         char* const x = on_device(std::vector<char>(400));
         Launch("write", {1, 1})([](char* y) { y[-300] = 1; }, x);
       },
       {"kernel 'write'", "has written 300 bytes before the beginning"},
       cudaErrorIllegalAddress,
       true},
      {"WriteAtTheFarEndOfTheSurroundings",
       [] { launch_write(floats(100), 20000); },
       {"79600 bytes beyond the end of the 400 bytes"},
       cudaErrorIllegalAddress},
      {"NullPointerWithAnOffset",
       [] { launch_write(nullptr, 3); },
       {line_of("write"), "thread (5, 0, 0)", "writes through a null pointer (address 0xc)"},
       cudaErrorIllegalAddress,
       true},
      {"WildPointer",
       [] { launch_write(reinterpret_cast<float*>(0x4142434445464748), 0); },
       {line_of("write"), "thread (5, 0, 0)", "no address at all"},
       cudaErrorIllegalAddress,
       true},
      {"DynamicSharedMemoryThatTheLaunchForgot",
       launching("beyond", {1, 8}, write_dynamic, 0),
       {line_of("dynamic"), "the launch gave it no dynamic part"},
       cudaErrorIllegalAddress},
      {"TooMuchStaticSharedMemory",
       launching("too_much_shared", {1, 8}, too_much_shared),
       {"'b'", "65536 bytes", "49152"},
       cudaErrorInvalidValue},
      {"StaticAndDynamicSharedMemoryTogether",
       launching("static_and_dynamic_shared", {1, 8, 16392}, static_and_dynamic_shared),
       {"'a'", "32768 bytes", "16392 dynamic", "49152", "cudaFuncSetAttribute()"},
       cudaErrorInvalidValue},
      {"DivisionByZero",
       [] {
         divide_by({0, 0}, 0);
       },
       {line_of("divide"), "thread (7, 0, 0)", "division that has no result"},
       cudaErrorLaunchFailure,
       true},
      {"DivisionOfTheSmallestNumber",
       [] {
         divide_by({0, std::numeric_limits<int>::min()}, -1);
       },
       {line_of("divide"), "thread (7, 0, 0)", "the smallest number by -1"},
       cudaErrorLaunchFailure,
       true},
      {"Trap",
       launching("stop", {1, 8}, stop),
       {line_of("trap"), "thread (1, 0, 0)", "__trap()"},
       cudaErrorLaunchFailure},
      {"BlockOfTooManyLayers",
       launching("nothing", {1, dim3(1, 1, 65)}, nothing),
       {line_of("launch"), "kernel 'nothing'", "(1, 1, 65)", "64"},
       cudaErrorInvalidConfiguration},
      {"GridOfTooManyRows",
       launching("nothing", {dim3(1, 65536), 32}, nothing),
       {line_of("launch"), "65536", "65535"},
       cudaErrorInvalidConfiguration},
      {"GridBarrierThatNotAllThreadsReach",
       [] { cudaLaunchCooperativeKernel(grid_barrier_for_some, 2, 32, nullptr); },
       {"not all threads reach this_grid().sync()", "22 have exited"},
       cudaErrorLaunchFailure},
      {"TooLargeACooperativeGrid",
       [] { cudaLaunchCooperativeKernel(nothing, 100, 1024, nullptr); },
       {"cooperative grid of (100, 1, 1)", "at most 8 such blocks"},
       cudaErrorCooperativeLaunchTooLarge},
      {"PointerThatIsNoKernel",
       [] {
         const auto* const address = reinterpret_cast<const void*>(&settings);
         cudaLaunchKernel(address, dim3(1), dim3(1), nullptr);  // mistake: no_kernel
       },
       {line_of("no_kernel"), "name the kernel itself, not a pointer to it"},
       cudaErrorInvalidDeviceFunction},
      {"FreeWithinAnAllocation",
       [] { cudaFree(floats(10) + 1); },
       {"not the beginning of an allocation", "at byte 4 of the 40 bytes"},
       cudaErrorInvalidValue},
      {"FreeOfAVariable",
       [] {
         float value = 0;
         cudaFree(&value);
       },
       {"does not come from cudaMalloc()"},
       cudaErrorInvalidValue},
  };
}

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, IsReported) {
  const Mistake& mistake = GetParam();
  if (address_sanitizer && mistake.ends_address_sanitizer) {
    GTEST_SKIP() << "AddressSanitizer reports this and ends the program";
  }
  const Outcome outcome = outcome_of(mistake.make);
  expect_says(outcome, mistake.said);
  EXPECT_EQ(outcome.error, mistake.error);
}

INSTANTIATE_TEST_SUITE_P(All, Mistakes, testing::ValuesIn(mistakes()),
                         [](const auto& one) { return one.param.name; });

TEST(NoMistakes, ExitedThreadsCountAsArrivedWhereBarriersAreNotStrict) {
  const WithSettings restore;
  settings().strict_barriers = false;
  const Outcome outcome = outcome_of([] {
    launch("barrier_for_some", {3, 64}, barrier_for_some, 50);
    launch("warp_barrier_for_some", {3, 64}, warp_barrier_for_some);
    cudaLaunchCooperativeKernel(grid_barrier_for_some, 2, 32, nullptr);
  });
  EXPECT_EQ(outcome.text, "");
  EXPECT_EQ(outcome.error, cudaSuccess);
}

TEST(NoMistakes, SharedMemoryIsAllowedToOneKernelAndNotToAnother) {
  const auto allow = [](auto* kernel, int bytes) {
    OK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  };
  allow(write_dynamic, 60000);
  allow(static_and_dynamic_shared, 50000);
  const Outcome outcome = outcome_of([] {
    launch("write_dynamic", {1, 8, 60000}, write_dynamic, 14999);
    launch("static_and_dynamic_shared", {1, 8, 40000}, static_and_dynamic_shared);
  });
  EXPECT_EQ(outcome.text, "");
  EXPECT_EQ(outcome.error, cudaSuccess);
  const Outcome other =
      outcome_of(launching("static_and_dynamic_shared", {1, 8, 55000}, static_and_dynamic_shared));
  expect_says(other, {"55000 bytes", "may have 50000"});
  EXPECT_EQ(other.error, cudaErrorInvalidValue);
  allow(write_dynamic, 0);
  allow(static_and_dynamic_shared, 0);
}

TEST(ErrorsInKernels, StayUntilReset) {
  testing::internal::CaptureStderr();
  launch("stop", {1, 8}, stop);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  void* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(&pointer, 4), cudaErrorLaunchFailure);
  OK(cudaDeviceReset());
  OK(cudaGetLastError());
  OK(cudaMalloc(&pointer, 4));
  OK(cudaFree(pointer));
  testing::internal::GetCapturedStderr();
}

class MistakesDeathTest : public testing::Test {
 protected:
  void SetUp() override { testing::GTEST_FLAG(death_test_style) = "threadsafe"; }
};

TEST_F(MistakesDeathTest, HostCodeThatReadsDeviceMemoryBeforeAnyLaunch) {
  EXPECT_EXIT(
      {
        settings().protect = true;
        float* const data = floats(10);
        std::exit(data[3] > 0 ? 3 : 4);
      },
      testing::ExitedWithCode(1),
      "test_runtime_mistakes.cpp:[0-9]+: host code read device memory at 0x[0-9a-f]+, at byte 12 "
      "of the 40 bytes allocated in .*; use cudaMemcpy\\(\\)");
}

TEST_F(MistakesDeathTest, OtherFaultsOfHostCodeAreLeftAlone) {
  if (address_sanitizer) GTEST_SKIP() << "the sanitizer reports it";
  EXPECT_EXIT(
      {
        launch("nothing", {1, 1}, nothing);
        volatile std::size_t wild = 16;
        *reinterpret_cast<volatile int*>(wild) = 1;
      },
      testing::KilledBySignal(SIGSEGV), "");
}

/// `kill -SEGV` is no fault: neither of the host's code nor of a kernel's.
TEST_F(MistakesDeathTest, SignalsThatSomebodySendsAreNoFaults) {
  if (address_sanitizer) GTEST_SKIP() << "the sanitizer reports it";
  EXPECT_EXIT(
      {
        launch("nothing", {1, 1}, nothing);
        kill(getpid(), SIGSEGV);
      },
      testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(Launch("killing", {1, 1})([=](auto...) { pthread_kill(pthread_self(), SIGSEGV); }),
              testing::KilledBySignal(SIGSEGV), "");
}

#ifdef __SANITIZE_ADDRESS__

void beyond_shared(float* out, int index) {
  auto& tile = ::cuda_on_cpu::shared<float[64]>([] {}, "tile");
  tile[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x == 9) tile[index] = 1;
  out[threadIdx.x] = tile[threadIdx.x];
}

void beyond_local(float* out, int index) {
  float values[4] = {1, 2, 3, 4};
  if (threadIdx.x == 9) out[0] = values[index];
}

TEST_F(MistakesDeathTest, AddressSanitizerReportsAreHeadedByKernelBlockAndThread) {
  EXPECT_DEATH(launch("beyond_shared", {1, 64}, beyond_shared, floats(64), 64),
               "kernel 'beyond_shared', block \\(0, 0, 0\\), thread \\(9, 0, 0\\)");
  EXPECT_DEATH(launch("beyond_local", {1, 64}, beyond_local, floats(64), 4),
               "kernel 'beyond_local', block \\(0, 0, 0\\), thread \\(9, 0, 0\\)");
}

#endif

}  // namespace
}  // namespace cuda_on_cpu
