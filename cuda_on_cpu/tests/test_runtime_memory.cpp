#include <cstdlib>
#include <vector>

#include "runtime.hpp"

// The interfaces are C's.
// NOLINTBEGIN(*-avoid-c-arrays)
namespace cuda_on_cpu {
namespace {

void add_one(int* data) {
  data[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

class DeviceMemory : public RuntimeTest {};

TEST_F(DeviceMemory, RunsOut) {
  settings().device_memory = 1000;
  void* first = nullptr;
  void* second = nullptr;
  OK(cudaMalloc(&first, 600));
  EXPECT_EQ(cudaMalloc(&second, 600), cudaErrorMemoryAllocation);
  EXPECT_EQ(second, nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  OK(cudaGetLastError());
  std::size_t free = 0;
  std::size_t total = 0;
  OK(cudaMemGetInfo(&free, &total));
  EXPECT_EQ(total, 1000U);
  EXPECT_EQ(free, 400U);
  OK(cudaFree(first));
  OK(cudaMalloc(&second, 600));
}

TEST_F(DeviceMemory, CountsWhatHappens) {
  const Counters before = counters();
  int* const data = on_device(std::vector<int>(100, 1));
  Launch("add_one", {10, 10})([=](auto... a) { add_one(a...); }, data);
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(counters().allocations, before.allocations + 1);
  EXPECT_EQ(counters().launches, before.launches + 1);
  EXPECT_EQ(counters().copies, before.copies + 1);
  EXPECT_EQ(counters().host_synchronizations, before.host_synchronizations + 2);
}

TEST_F(DeviceMemory, SeveralDevices) {
  settings().devices = 2;
  int count = 0;
  OK(cudaGetDeviceCount(&count));
  EXPECT_EQ(count, 2);
  EXPECT_EQ(cudaSetDevice(2), cudaErrorInvalidDevice);
  int can = 0;
  OK(cudaDeviceCanAccessPeer(&can, 0, 1));
  EXPECT_EQ(can, 1);
  OK(cudaDeviceEnablePeerAccess(1, 0));
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
  int* const first = on_device(std::vector<int>(3, 7));
  OK(cudaSetDevice(1));
  int* const second = on_device(std::vector<int>(3, 8));
  OK(cudaMemcpyPeer(second, 1, first, 0, 12));
  EXPECT_EQ(from_device(second, 3), std::vector<int>(3, 7));
  OK(cudaSetDevice(0));
  cudaDeviceProp properties;
  OK(cudaGetDeviceProperties(&properties, 1));
  expect_contains(properties.name, "CUDA on the CPU (");
}

TEST_F(DeviceMemory, AHandleIsOfNoUseInItsOwnProcess) {
  int* const data = on_device(std::vector<int>(1));
  cudaIpcMemHandle_t handle;
  OK(cudaIpcGetMemHandle(&handle, data));
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
