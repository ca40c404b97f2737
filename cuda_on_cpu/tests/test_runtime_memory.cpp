#include <cstdlib>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "runtime.hpp"

// The interfaces are C's.
// NOLINTBEGIN(*-avoid-c-arrays)
namespace cuda_on_cpu {
namespace {

void add_one(int* data) {
  data[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

class DeviceMemory : public testing::Test {
 protected:
  void TearDown() override { cudaDeviceReset(); }

 private:
  WithSettings settings_;
};

TEST_F(DeviceMemory, RunsOut) {
  settings().device_memory = 1000;
  void* first = nullptr;
  void* second = nullptr;
  EXPECT_EQ(cudaMalloc(&first, 600), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&second, 600), cudaErrorMemoryAllocation);
  EXPECT_EQ(second, nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  std::size_t free = 0;
  std::size_t total = 0;
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  EXPECT_EQ(total, 1000U);
  EXPECT_EQ(free, 400U);
  EXPECT_EQ(cudaFree(first), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&second, 600), cudaSuccess);
}

TEST_F(DeviceMemory, CountsWhatHappens) {
  const Counters before = counters();
  int* const data = on_device(std::vector<int>(100, 1));
  Launch("add_one", {10, 10})([=](auto... a) { add_one(a...); }, data);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(counters().allocations, before.allocations + 1);
  EXPECT_EQ(counters().launches, before.launches + 1);
  EXPECT_EQ(counters().copies, before.copies + 1);
  EXPECT_EQ(counters().host_synchronizations, before.host_synchronizations + 2);
}

TEST_F(DeviceMemory, SeveralDevices) {
  settings().devices = 2;
  int count = 0;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, 2);
  EXPECT_EQ(cudaSetDevice(2), cudaErrorInvalidDevice);
  int can = 0;
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 0, 1), cudaSuccess);
  EXPECT_EQ(can, 1);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaSuccess);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
  int* const first = on_device(std::vector<int>(3, 7));
  EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
  int* const second = on_device(std::vector<int>(3, 8));
  EXPECT_EQ(cudaMemcpyPeer(second, 1, first, 0, 12), cudaSuccess);
  EXPECT_EQ(from_device(second, 3), std::vector<int>(3, 7));
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  cudaDeviceProp properties;
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 1), cudaSuccess);
  expect_contains(properties.name, "CUDA on the CPU (");
}

/// In a process that was there before, with a runtime of its own: adds 1 to the memory that has
/// come. The exit code tells what it has found, or what has failed.
[[noreturn]] void add_one_in_another_process(int from_parent) {
  cudaIpcMemHandle_t memory;
  int* data = nullptr;
  if (read(from_parent, &memory, sizeof memory) != sizeof memory) _exit(1);
  if (cudaIpcOpenMemHandle(&data, memory, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess) _exit(2);
  const int found = from_device(data, 1).front();
  Launch("add_one", {1, 1})([=](auto... a) { add_one(a...); }, data);
  if (cudaDeviceSynchronize() != cudaSuccess) _exit(3);
  _exit(cudaIpcCloseMemHandle(data) == cudaSuccess ? found : 4);
}

TEST_F(DeviceMemory, AnotherProcessSharesIt) {
  int to_child[2];
  ASSERT_EQ(pipe(to_child), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) add_one_in_another_process(to_child[0]);
  int* const data = on_device(std::vector<int>(1, 41));
  cudaIpcMemHandle_t memory;
  EXPECT_EQ(cudaIpcGetMemHandle(&memory, data), cudaSuccess);
  EXPECT_EQ(write(to_child[1], &memory, sizeof memory), ssize_t{sizeof memory});
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 41);
  EXPECT_EQ(from_device(data, 1).front(), 42);
  for (const int file : to_child) close(file);
}

TEST_F(DeviceMemory, SizesThatNoMachineHasAreRefused) {
  void* pointer = nullptr;
  std::size_t pitch = 0;
  EXPECT_EQ(cudaMallocHost(&pointer, static_cast<std::size_t>(-4)), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMalloc(&pointer, static_cast<std::size_t>(-4)), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMallocPitch(&pointer, &pitch, static_cast<std::size_t>(-4), 1),
            cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMallocPitch(&pointer, &pitch, 512, std::size_t{1} << 55),
            cudaErrorMemoryAllocation);
  EXPECT_EQ(pointer, nullptr);
  cudaGetLastError();
}

TEST_F(DeviceMemory, AHandleIsOfNoUseInItsOwnProcess) {
  int* const data = on_device(std::vector<int>(1));
  cudaIpcMemHandle_t handle;
  EXPECT_EQ(cudaIpcGetMemHandle(&handle, data), cudaSuccess);
  void* pointer = nullptr;
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaIpcOpenMemHandle(&pointer, handle, cudaIpcMemLazyEnablePeerAccess),
            cudaErrorMapBufferObjectFailed);
  expect_contains(testing::internal::GetCapturedStderr(), "very process");
}

TEST(SettingsDeathTest, RefuseUnknownValues) {
  struct Setting {
    const char* variable;
    const char* value;
    int exit_code;
    const char* said;
  };
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  for (const Setting& one :
       {Setting{"STREAMS", "late", 2, "STREAMS is 'late', but must be eager or lazy"},
        Setting{"THREAD_ORDER", "sideways", 2, "must be forward, reverse or random"},
        Setting{"WORKERS", "0", 2, "must be a whole number from 1 to 1024"},
        Setting{"PROTECT", "off", 0, ""}}) {
    const std::string name = std::string("STAGEWISE_CPU_") + one.variable;
    EXPECT_EXIT(
        {
          setenv(name.c_str(), one.value, 1);
          settings();
          std::exit(0);
        },
        testing::ExitedWithCode(one.exit_code), one.said);
  }
}

}  // namespace
}  // namespace cuda_on_cpu
// NOLINTEND(*-avoid-c-arrays)
