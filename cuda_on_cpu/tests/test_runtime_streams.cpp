#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include "runtime.hpp"

namespace cuda_on_cpu {
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

/// For 4 numbers, of which the first is set.
int* managed(int first) {
  int* data = nullptr;
  OK(cudaMallocManaged(&data, 16));
  data[0] = first;
  return data;
}

cudaStream_t new_stream(unsigned flags = cudaStreamNonBlocking) {
  cudaStream_t stream = nullptr;
  OK(cudaStreamCreateWithFlags(&stream, flags));
  return stream;
}
cudaEvent_t new_event(unsigned flags = cudaEventDisableTiming) {
  cudaEvent_t event = nullptr;
  OK(cudaEventCreateWithFlags(&event, flags));
  return event;
}

class Streams : public RuntimeTest {};

TEST_F(Streams, TheDefaultStreamWaitsForBlockingOnesAndTheyForIt) {
  settings().lazy_streams = true;
  cudaStream_t blocking = new_stream(cudaStreamDefault);
  cudaStream_t other = new_stream(cudaStreamDefault);
  int* const data = managed(1);
  launch_add(data, 2, blocking);
  launch_twice(data, nullptr);
  launch_add(data, 1, other);
  OK(cudaStreamSynchronize(other));
  EXPECT_EQ(data[0], 7);
}

TEST_F(Streams, PageableMemoryIsReadBeforeAnAsynchronousCopyReturns) {
  settings().lazy_streams = true;
  cudaStream_t stream = new_stream();
  int* const data = on_device(std::vector<int>(4));
  std::vector<int> host{1, 2, 3, 4};
  OK(cudaMemcpyAsync(data, host.data(), 16, cudaMemcpyHostToDevice, stream));
  host.assign(4, 9);
  OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(from_device(data, 4), (std::vector<int>{1, 2, 3, 4}));
  // Pinned memory is not.
  int* pinned = nullptr;
  OK(cudaMallocHost(&pinned, 16));
  std::fill_n(pinned, 4, 5);
  OK(cudaMemcpyAsync(data, pinned, 16, cudaMemcpyHostToDevice, stream));
  std::fill_n(pinned, 4, 6);
  OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(from_device(data, 4), (std::vector<int>{6, 6, 6, 6}));
}

TEST_F(Streams, MayBeDestroyedWhileOthersHaveYetToWaitForThem) {
  settings().lazy_streams = true;
  int* const data = managed(0);
  cudaStream_t stream = new_stream(cudaStreamDefault);
  launch_add(data, 3, stream);
  launch_twice(data, nullptr);
  OK(cudaStreamDestroy(stream));
  for (int i = 0; i < 8; ++i) launch_add(data, 100, new_stream());  // perhaps in its memory
  OK(cudaStreamSynchronize(nullptr));
  EXPECT_EQ(data[0], 6);
}

TEST_F(Streams, EventsMayBeDestroyedBeforeTheyHaveHappened) {
  settings().lazy_streams = true;
  cudaStream_t first = new_stream();
  cudaStream_t second = new_stream();
  int* const data = managed(1);
  cudaEvent_t event = new_event();
  launch_add(data, 3, first);
  OK(cudaEventRecord(event, first));
  OK(cudaEventRecord(event, second));
  OK(cudaEventDestroy(event));
  OK(cudaStreamSynchronize(first));
  EXPECT_EQ(data[0], 4);
}

void add_slowly(int* data) {
  for (int i = 0; i < 20; ++i) {
    __syncthreads();
    data[blockIdx.x * blockDim.x + threadIdx.x] += 1;
  }
}

TEST_F(Streams, TwoHostThreadsLaunchAtOnce) {
  for (const bool lazy : {false, true}) {
    settings().lazy_streams = lazy;
    const auto work = [](int* data) {
      cudaStream_t stream = new_stream();
      for (int i = 0; i < 200; ++i) {
        Launch("add_slowly", {4, 64, 0, stream})([=](auto... a) { add_slowly(a...); }, data);
        if (i % 50 == 0) {
          OK(cudaStreamSynchronize(stream));
        }
      }
      OK(cudaStreamSynchronize(stream));
      OK(cudaStreamDestroy(stream));
    };
    int* const data = on_device(std::vector<int>(256));
    int* const other = on_device(std::vector<int>(256));
    std::thread thread(work, data);
    work(other);
    thread.join();
    EXPECT_EQ(from_device(data, 256), std::vector<int>(256, 4000));
    EXPECT_EQ(from_device(other, 256), std::vector<int>(256, 4000));
  }
}

#ifndef __SANITIZE_ADDRESS__
void count_slowly(int* data) {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  atomicAdd(data, 1);
}

/// A thread's stack needs more.
void leave_no_memory_for_a_thread() {
  std::ifstream statistics("/proc/self/statm");
  rlim_t pages = 0;
  statistics >> pages;
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (rlim_t{4} << 20);
  setrlimit(RLIMIT_AS, &limit);
}

TEST(StreamsDeathTest, KernelsRunWhereNoThreadCanBeStarted) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        settings().workers = 3;
        int* const data = on_device(std::vector<int>(1));
        Launch("add", {1, 1})([=](auto... a) { add(a...); }, data, 1);
        leave_no_memory_for_a_thread();
        Launch("count_slowly", {20, 1})([=](auto... a) { count_slowly(a...); }, data);
        sigset_t blocked;
        pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
        const int count = from_device(data, 1).front();
        std::_Exit(sigismember(&blocked, SIGTERM) != 0 ? 1 : count);
      },
      testing::ExitedWithCode(21), "");
}
#endif

TEST_F(Streams, EventsMeasureTime) {
  cudaEvent_t start = new_event(cudaEventDefault);
  cudaEvent_t end = new_event(cudaEventDefault);
  const auto before = std::chrono::steady_clock::now();
  OK(cudaEventRecord(start));
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  OK(cudaEventRecord(end));
  OK(cudaEventSynchronize(end));
  float milliseconds = 0;
  OK(cudaEventElapsedTime(&milliseconds, start, end));
  EXPECT_GE(milliseconds, 3.0F);
  const std::chrono::duration<float, std::milli> around = std::chrono::steady_clock::now() - before;
  EXPECT_LE(milliseconds, around.count());
}

class Graphs : public Streams {
 protected:
  void begin() { OK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal)); }

  /// The branch waits for the stream, and so belongs to its capture.
  void fork() {
    OK(cudaEventRecord(event_, stream_));
    OK(cudaStreamWaitEvent(branch_, event_));
  }

  void end(cudaError_t expected) {
    EXPECT_EQ(cudaStreamEndCapture(stream_, &graph_), expected);
    EXPECT_EQ(graph_ == nullptr, expected != cudaSuccess);
    cudaGetLastError();
  }

  static void expect_not_captured(cudaStream_t stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
    OK(cudaStreamIsCapturing(stream, &status));
    EXPECT_EQ(status, cudaStreamCaptureStatusNone);
  }

  cudaStream_t stream_ = new_stream();
  cudaStream_t branch_ = new_stream();
  cudaEvent_t event_ = new_event();
  cudaGraph_t graph_ = nullptr;
  int* data_ = on_device(std::vector<int>(4));
};

TEST_F(Graphs, AreRecordedAndRunAgainAndAgain) {
  for (const ThreadOrder order :
       {ThreadOrder::forward, ThreadOrder::reverse, ThreadOrder::random}) {
    settings().thread_order = order;
    int* const data = on_device(std::vector<int>(4));
    int* const other = on_device(std::vector<int>(4));
    begin();
    launch_add(data, 1, stream_);
    fork();
    launch_add(other, 5, branch_);
    OK(cudaEventRecord(event_, branch_));
    launch_twice(data, stream_);
    OK(cudaStreamWaitEvent(stream_, event_));
    launch_add(other, 1, stream_);
    end(cudaSuccess);
    EXPECT_EQ(from_device(data, 4), std::vector<int>(4)) << "a capture runs nothing";
    std::size_t count = 0;
    OK(cudaGraphGetNodes(graph_, nullptr, &count));
    EXPECT_EQ(count, 4U);
    cudaGraphExec_t executable = nullptr;
    OK(cudaGraphInstantiate(&executable, graph_));
    OK(cudaGraphDestroy(graph_));
    for (int i = 0; i < 3; ++i) OK(cudaGraphLaunch(executable, nullptr));
    EXPECT_EQ(from_device(data, 4), std::vector<int>(4, 14));
    EXPECT_EQ(from_device(other, 4), std::vector<int>(4, 18));
    OK(cudaGraphExecDestroy(executable));
  }
}

TEST_F(Graphs, CaptureForbidsToWait) {
  testing::internal::CaptureStderr();
  void* memory = nullptr;
  const std::vector<std::function<cudaError_t()>> calls = {
      [&] { return cudaStreamSynchronize(stream_); }, [] { return cudaDeviceSynchronize(); },
      [&] { return cudaMalloc(&memory, 16); }, [&] { return cudaStreamQuery(stream_); }};
  for (const auto& call : calls) {
    OK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
    EXPECT_EQ(call(), cudaErrorStreamCaptureUnsupported);
    end(cudaErrorStreamCaptureInvalidated);
  }
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal),
            cudaErrorStreamCaptureUnsupported);
  end(cudaErrorIllegalState);
  testing::internal::GetCapturedStderr();
}

TEST_F(Graphs, BranchesMustBeJoined) {
  begin();
  fork();
  launch_add(data_, 1, branch_);
  EXPECT_EQ(cudaEventQuery(event_), cudaErrorCapturedEvent);
  EXPECT_EQ(cudaStreamEndCapture(branch_, &graph_), cudaErrorStreamCaptureUnmatched);
  testing::internal::CaptureStderr();
  end(cudaErrorStreamCaptureInvalidated);
  begin();
  fork();
  launch_add(data_, 1, branch_);
  end(cudaErrorStreamCaptureUnjoined);
  expect_contains(testing::internal::GetCapturedStderr(), "cudaStreamWaitEvent()");
}

TEST_F(Graphs, AStreamMayBeDestroyedWhileItIsCaptured) {
  begin();
  fork();
  OK(cudaStreamDestroy(branch_));
  end(cudaErrorStreamCaptureInvalidated);
  branch_ = new_stream();
  begin();
  fork();
  OK(cudaStreamDestroy(stream_));
  OK(cudaDeviceSynchronize()) << "nothing is being captured any more";
  expect_not_captured(branch_);
}

TEST_F(Graphs, ACaptureThatHasEndedCannotBeJoined) {
  begin();
  OK(cudaEventRecord(event_, stream_));
  end(cudaSuccess);
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaStreamWaitEvent(branch_, event_), cudaErrorCapturedEvent);
  expect_contains(testing::internal::GetCapturedStderr(), "a capture which has ended");
  cudaGetLastError();
  expect_not_captured(branch_);
  fork();
}

TEST_F(Graphs, TheDefaultStreamCannotBeUsedWhileABlockingOneIsCaptured) {
  testing::internal::CaptureStderr();
  stream_ = new_stream(cudaStreamDefault);
  begin();
  launch_add(data_, 1, nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaErrorStreamCaptureImplicit);
  end(cudaErrorStreamCaptureInvalidated);
  testing::internal::GetCapturedStderr();
}

}  // namespace
}  // namespace cuda_on_cpu
