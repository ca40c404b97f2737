#include <thread>
#include <vector>

#include "cuda_on_cpu/runtime.hpp"

namespace stagewise::cuda_on_cpu {
namespace {

void add(int* data, int value) {
  data[threadIdx.x] += value;
}
void twice(int* data) {
  data[threadIdx.x] *= 2;
}

void launch_add(int* data, int value, cudaStream_t stream) {
  Launch("add", {1, 4, 0, stream})([=](auto... a) { add(a...); }, data, value);
}
void launch_twice(int* data, cudaStream_t stream) {
  Launch("twice", {1, 4, 0, stream})([=](auto... a) { twice(a...); }, data);
}

cudaStream_t new_stream(unsigned flags = cudaStreamNonBlocking) {
  cudaStream_t stream = nullptr;
  EXPECT_EQ(cudaStreamCreateWithFlags(&stream, flags), cudaSuccess);
  return stream;
}
cudaEvent_t new_event(unsigned flags = cudaEventDisableTiming) {
  cudaEvent_t event = nullptr;
  EXPECT_EQ(cudaEventCreateWithFlags(&event, flags), cudaSuccess);
  return event;
}

class Streams : public testing::Test {
 protected:
  void TearDown() override { cudaDeviceReset(); }

 private:
  WithSettings settings_;
};

TEST_F(Streams, LazyOnesShowAMissingWait) {
  settings().lazy_streams = true;
  const cudaStream_t stream = new_stream();
  int* data = nullptr;
  EXPECT_EQ(cudaMallocManaged(&data, 16), cudaSuccess);
  data[0] = 0;
  launch_add(data, 3, stream);
  EXPECT_EQ(data[0], 0) << "nobody has waited yet";
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(data[0], 3);
}

TEST_F(Streams, LazyOnesKeepTheOrderOfEvents) {
  settings().lazy_streams = true;
  const cudaStream_t first = new_stream();
  const cudaStream_t second = new_stream();
  const cudaEvent_t event = new_event();
  int* data = nullptr;
  EXPECT_EQ(cudaMallocManaged(&data, 16), cudaSuccess);
  data[0] = 0;
  launch_add(data, 3, first);
  EXPECT_EQ(cudaEventRecord(event, first), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(second, event), cudaSuccess);
  launch_twice(data, second);
  EXPECT_EQ(cudaStreamSynchronize(second), cudaSuccess);
  EXPECT_EQ(data[0], 6);
}

TEST_F(Streams, TheDefaultStreamWaitsForBlockingOnesAndTheyForIt) {
  settings().lazy_streams = true;
  const cudaStream_t blocking = new_stream(cudaStreamDefault);
  const cudaStream_t other = new_stream(cudaStreamDefault);
  int* data = nullptr;
  EXPECT_EQ(cudaMallocManaged(&data, 16), cudaSuccess);
  data[0] = 1;
  launch_add(data, 2, blocking);
  launch_twice(data, nullptr);
  launch_add(data, 1, other);
  EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess);
  EXPECT_EQ(data[0], 7);
}

TEST_F(Streams, PageableMemoryIsReadBeforeAnAsynchronousCopyReturns) {
  settings().lazy_streams = true;
  const cudaStream_t stream = new_stream();
  int* const data = on_device(std::vector<int>(4));
  std::vector<int> host{1, 2, 3, 4};
  EXPECT_EQ(cudaMemcpyAsync(data, host.data(), 16, cudaMemcpyHostToDevice, stream), cudaSuccess);
  host.assign(4, 9);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(from_device(data, 4), (std::vector<int>{1, 2, 3, 4}));
  // Pinned memory is not.
  int* pinned = nullptr;
  EXPECT_EQ(cudaMallocHost(&pinned, 16), cudaSuccess);
  std::fill_n(pinned, 4, 5);
  EXPECT_EQ(cudaMemcpyAsync(data, pinned, 16, cudaMemcpyHostToDevice, stream), cudaSuccess);
  std::fill_n(pinned, 4, 6);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(from_device(data, 4), (std::vector<int>{6, 6, 6, 6}));
}

TEST_F(Streams, EventsMeasureTime) {
  const cudaEvent_t start = new_event(cudaEventDefault);
  const cudaEvent_t end = new_event(cudaEventDefault);
  EXPECT_EQ(cudaEventRecord(start), cudaSuccess);
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  EXPECT_EQ(cudaEventRecord(end), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(end), cudaSuccess);
  float milliseconds = 0;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaSuccess);
  EXPECT_GE(milliseconds, 3.0F);
  EXPECT_LT(milliseconds, 3000.0F);
}

class Graphs : public Streams {
 protected:
  /// Two streams in a capture: add 1; then twice in one and add 5 to other memory in the other.
  cudaGraph_t capture(int* data, int* other) {
    const cudaStream_t stream = new_stream();
    const cudaStream_t branch = new_stream();
    const cudaEvent_t fork = new_event();
    const cudaEvent_t join = new_event();
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    launch_add(data, 1, stream);
    EXPECT_EQ(cudaEventRecord(fork, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(branch, fork), cudaSuccess);
    launch_add(other, 5, branch);
    EXPECT_EQ(cudaEventRecord(join, branch), cudaSuccess);
    launch_twice(data, stream);
    EXPECT_EQ(cudaStreamWaitEvent(stream, join), cudaSuccess);
    launch_add(other, 1, stream);
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    return graph;
  }
};

TEST_F(Graphs, AreRecordedAndRunAgainAndAgain) {
  for (const ThreadOrder order :
       {ThreadOrder::forward, ThreadOrder::reverse, ThreadOrder::random}) {
    settings().thread_order = order;
    int* const data = on_device(std::vector<int>(4));
    int* const other = on_device(std::vector<int>(4));
    cudaGraph_t graph = capture(data, other);
    EXPECT_EQ(from_device(data, 4), std::vector<int>(4)) << "a capture runs nothing";
    std::size_t count = 0;
    EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &count), cudaSuccess);
    EXPECT_EQ(count, 4U);
    cudaGraphExec_t executable = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&executable, graph), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(cudaGraphLaunch(executable, nullptr), cudaSuccess);
    EXPECT_EQ(from_device(data, 4), std::vector<int>(4, 14));
    EXPECT_EQ(from_device(other, 4), std::vector<int>(4, 18));
    EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  }
}

TEST_F(Graphs, CaptureForbidsToWait) {
  testing::internal::CaptureStderr();
  const cudaStream_t stream = new_stream();
  cudaGraph_t graph = nullptr;
  void* memory = nullptr;
  const auto spoilt_by = [&](auto call, cudaError_t expected) {
    EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    EXPECT_EQ(call(), expected);
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    EXPECT_EQ(graph, nullptr);
    cudaGetLastError();
  };
  spoilt_by([&] { return cudaStreamSynchronize(stream); }, cudaErrorStreamCaptureUnsupported);
  spoilt_by([&] { return cudaDeviceSynchronize(); }, cudaErrorStreamCaptureUnsupported);
  spoilt_by([&] { return cudaMalloc(&memory, 16); }, cudaErrorStreamCaptureUnsupported);
  spoilt_by([&] { return cudaStreamQuery(stream); }, cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal),
            cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState);
  testing::internal::GetCapturedStderr();
}

TEST_F(Graphs, BranchesMustBeJoined) {
  const cudaStream_t stream = new_stream();
  const cudaStream_t branch = new_stream();
  const cudaEvent_t event = new_event();
  int* const data = on_device(std::vector<int>(4));
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(branch, event), cudaSuccess);
  launch_add(data, 1, branch);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorCapturedEvent);
  EXPECT_EQ(cudaStreamEndCapture(branch, &graph), cudaErrorStreamCaptureUnmatched);
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(branch, event), cudaSuccess);
  launch_add(data, 1, branch);
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureUnjoined);
  expect_contains(testing::internal::GetCapturedStderr(), "cudaStreamWaitEvent()");
  cudaGetLastError();
}

TEST_F(Graphs, TheDefaultStreamCannotBeUsedWhileABlockingOneIsCaptured) {
  testing::internal::CaptureStderr();
  const cudaStream_t stream = new_stream(cudaStreamDefault);
  int* const data = on_device(std::vector<int>(4));
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  launch_add(data, 1, nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaErrorStreamCaptureImplicit);
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  cudaGetLastError();
  testing::internal::GetCapturedStderr();
}

}  // namespace
}  // namespace stagewise::cuda_on_cpu
