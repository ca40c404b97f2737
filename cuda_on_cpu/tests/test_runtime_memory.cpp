#include <chrono>
#include <cstdlib>
#include <thread>
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

TEST_F(DeviceMemory, BeginsAsNaNs) {
  double* data = nullptr;
  EXPECT_EQ(cudaMalloc(&data, 80), cudaSuccess);
  for (const double value : from_device(data, 10)) EXPECT_TRUE(std::isnan(value));
}

TEST_F(DeviceMemory, CopiesOfRows) {
  int* data = nullptr;
  std::size_t pitch = 0;
  EXPECT_EQ(cudaMallocPitch(&data, &pitch, 12, 2), cudaSuccess);
  const int from[] = {1, 2, 3, 4, 5, 6};
  int to[6] = {};
  EXPECT_EQ(cudaMemcpy2D(data, pitch, from, 12, 12, 2, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy2D(to, 12, data, pitch, 12, 2, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(std::vector<int>(to, to + 6), std::vector<int>(from, from + 6));
  EXPECT_EQ(cudaMemset(data, 0, 8), cudaSuccess);
  EXPECT_EQ(from_device(data, 3), (std::vector<int>{0, 0, 3}));
}

TEST_F(DeviceMemory, PointersTellWhatTheyAre) {
  cudaPointerAttributes attributes;
  void* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(&pointer, 4), cudaSuccess);
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, pointer), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(cudaHostAlloc(&pointer, 4, cudaHostAllocMapped), cudaSuccess);
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, pointer), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  void* device = nullptr;
  EXPECT_EQ(cudaHostGetDevicePointer(&device, pointer, 0), cudaSuccess);
  EXPECT_EQ(device, pointer);
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, &attributes), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
}

TEST_F(DeviceMemory, WorksWhileItIsProtectedFromHostCode) {
  settings().protect = true;
  int* const data = on_device(std::vector<int>(100, 1));
  Launch("add_one", {10, 10})([=](auto... a) { add_one(a...); }, data);
  EXPECT_EQ(from_device(data, 100), std::vector<int>(100, 2));
  EXPECT_EQ(cudaFree(data), cudaSuccess);
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

/// A handle goes from this process to a child that was there before it was made, and has a runtime
/// of its own.
TEST_F(DeviceMemory, AnotherProcessSeesIt) {
  int to_child[2];
  int to_parent[2];
  ASSERT_EQ(pipe(to_child), 0);
  ASSERT_EQ(pipe(to_parent), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    cudaIpcMemHandle_t handle;
    cudaIpcEventHandle_t event_handle;
    if (read(to_child[0], &handle, sizeof handle) != sizeof handle) _exit(10);
    if (read(to_child[0], &event_handle, sizeof event_handle) != sizeof event_handle) _exit(11);
    int* data = nullptr;
    cudaEvent_t event = nullptr;
    if (cudaIpcOpenMemHandle(&data, handle, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess)
      _exit(12);
    if (cudaIpcOpenEventHandle(&event, event_handle) != cudaSuccess) _exit(13);
    if (cudaStreamWaitEvent(nullptr, event) != cudaSuccess) _exit(14);
    Launch("add_one", {10, 10})([=](auto... a) { add_one(a...); }, data);
    if (cudaDeviceSynchronize() != cudaSuccess) _exit(15);
    if (cudaIpcCloseMemHandle(data) != cudaSuccess) _exit(16);
    _exit(write(to_parent[1], "x", 1) == 1 ? 0 : 17);
  }
  int* const data = on_device(std::vector<int>(100, 41));
  cudaEvent_t event = nullptr;
  EXPECT_EQ(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess),
            cudaSuccess);
  cudaIpcMemHandle_t handle;
  cudaIpcEventHandle_t event_handle;
  EXPECT_EQ(cudaIpcGetMemHandle(&handle, data), cudaSuccess);
  EXPECT_EQ(cudaIpcGetEventHandle(&event_handle, event), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(event), cudaSuccess);
  EXPECT_EQ(write(to_child[1], &handle, sizeof handle), static_cast<ssize_t>(sizeof handle));
  EXPECT_EQ(write(to_child[1], &event_handle, sizeof event_handle),
            static_cast<ssize_t>(sizeof event_handle));
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(from_device(data, 100), std::vector<int>(100, 42));
  for (const int file : {to_child[0], to_child[1], to_parent[0], to_parent[1]}) close(file);
}

TEST_F(DeviceMemory, AnotherProcessWaitsForAnEventInALazyStream) {
  settings().lazy_streams = true;
  int to_child[2];
  ASSERT_EQ(pipe(to_child), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    cudaIpcMemHandle_t handle;
    cudaIpcEventHandle_t event_handle;
    if (read(to_child[0], &handle, sizeof handle) != sizeof handle) _exit(10);
    if (read(to_child[0], &event_handle, sizeof event_handle) != sizeof event_handle) _exit(11);
    int* data = nullptr;
    cudaEvent_t event = nullptr;
    if (cudaIpcOpenMemHandle(&data, handle, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess)
      _exit(12);
    if (cudaIpcOpenEventHandle(&event, event_handle) != cudaSuccess) _exit(13);
    if (cudaStreamWaitEvent(nullptr, event) != cudaSuccess) _exit(14);
    if (cudaEventDestroy(event) != cudaSuccess) _exit(15);
    _exit(from_device(data, 1).front());
  }
  int* const data = on_device(std::vector<int>(1, 41));
  cudaEvent_t event = nullptr;
  EXPECT_EQ(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess),
            cudaSuccess);
  cudaIpcMemHandle_t handle;
  cudaIpcEventHandle_t event_handle;
  EXPECT_EQ(cudaIpcGetMemHandle(&handle, data), cudaSuccess);
  EXPECT_EQ(cudaIpcGetEventHandle(&event_handle, event), cudaSuccess);
  Launch("add_one", {1, 1})([=](auto... a) { add_one(a...); }, data);
  EXPECT_EQ(cudaEventRecord(event), cudaSuccess);
  EXPECT_EQ(write(to_child[1], &handle, sizeof handle), static_cast<ssize_t>(sizeof handle));
  EXPECT_EQ(write(to_child[1], &event_handle, sizeof event_handle),
            static_cast<ssize_t>(sizeof event_handle));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 42);
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
  const auto first_use = [](const char* variable, const char* value) {
    setenv(variable, value, 1);  // NOLINT(concurrency-mt-unsafe)
    settings();
    std::exit(0);  // NOLINT(concurrency-mt-unsafe)
  };
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(first_use("STAGEWISE_CPU_STREAMS", "late"), testing::ExitedWithCode(2),
              "STAGEWISE_CPU_STREAMS is 'late', but must be eager or lazy");
  EXPECT_EXIT(first_use("STAGEWISE_CPU_THREAD_ORDER", "sideways"), testing::ExitedWithCode(2),
              "must be forward, reverse or random");
  EXPECT_EXIT(first_use("STAGEWISE_CPU_WORKERS", "0"), testing::ExitedWithCode(2),
              "must be a whole number from 1 to 1024");
  EXPECT_EXIT(first_use("STAGEWISE_CPU_PROTECT", "off"), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace cuda_on_cpu
// NOLINTEND(*-avoid-c-arrays)
