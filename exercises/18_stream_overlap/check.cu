#include <algorithm>

#include "check_cuda.hpp"

namespace {

/// The first function of the runtime that has failed in a call of the learner's function.
const char* failed_call = nullptr;

cudaError_t noted(const char* function, cudaError_t error) {
  if (error != cudaSuccess && failed_call == nullptr) failed_call = function;
  return error;
}

}  // namespace

#define cudaEventRecord(...) noted("cudaEventRecord", cudaEventRecord(__VA_ARGS__))
#define cudaStreamWaitEvent(...) noted("cudaStreamWaitEvent", cudaStreamWaitEvent(__VA_ARGS__))
#define cudaMemcpyAsync(...) noted("cudaMemcpyAsync", cudaMemcpyAsync(__VA_ARGS__))
#include EXERCISE_FILE
#undef cudaEventRecord
#undef cudaStreamWaitEvent
#undef cudaMemcpyAsync

namespace exercise {
namespace {

/// What a call needs.
struct Work {
  Work(int n, int chunk) : n(n), chunk(chunk) {
    cudaStreamCreateWithFlags(&copying, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&computing, cudaStreamNonBlocking);
    cudaMallocHost(&x, n * sizeof(float));
    cudaMallocHost(&y, n * sizeof(float));
    for (float*& buffer : buffers) cudaMalloc(&buffer, chunk * sizeof(float));
    for (cudaEvent_t& event : arrived) cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    for (cudaEvent_t& event : used) cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    const std::vector<float> values = numbers(n);
    std::copy(values.begin(), values.end(), x);
    std::fill(y, y + n, -1000.0F);
  }
  ~Work() {
    cudaDeviceSynchronize();
    for (float* const buffer : buffers) cudaFree(buffer);
    for (const cudaEvent_t event : arrived) cudaEventDestroy(event);
    for (const cudaEvent_t event : used) cudaEventDestroy(event);
    cudaFreeHost(x);
    cudaFreeHost(y);
    cudaStreamDestroy(copying);
    cudaStreamDestroy(computing);
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  void start() {
    failed_call = nullptr;
    affine_in_chunks(n, chunk, x, y, buffers, copying, computing, arrived, used);
    expect(failed_call == nullptr, what, ", ", failed_call,
           "() fails: ", cudaGetErrorString(cudaGetLastError()),
           "; the events are arrived[0], arrived[1], used[0] and used[1], the streams `copying` "
           "and `computing`.");
  }

  int n;
  int chunk;
  std::string what = say("For n = ", n, " in chunks of ", chunk);
  cudaStream_t copying = nullptr;
  cudaStream_t computing = nullptr;
  float* x = nullptr;
  float* y = nullptr;
  float* buffers[2] = {};
  cudaEvent_t arrived[2] = {};
  cudaEvent_t used[2] = {};
};

/// Where y is wrong, what has gone wrong; empty if that is not known.
std::string reason_for(const Work& work, const std::vector<float>& expected, int chunk) {
  const int first = chunk * work.chunk;
  const int size = std::min(work.chunk, work.n - first);
  const auto is = [&](const auto& value) {
    for (int i = 0; i < size; ++i) {
      if (work.y[first + i] != value(i)) return false;
    }
    return true;
  };
  const std::string its = say("chunk ", chunk);
  const bool has_nan = std::any_of(work.y + first, work.y + first + size,
                                   [](float number) { return std::isnan(number); });
  if (has_nan) return "a kernel ran before " + its + " had arrived in its buffer";
  if (is([](int) { return -1000.0F; })) return "nothing was copied back to it";
  if (is([&](int i) { return work.x[first + i]; })) return its + " was copied back uncomputed";
  for (int other = 0; other * work.chunk < work.n; ++other) {
    const int from = other * work.chunk;
    if (other == chunk || from + size > work.n) continue;
    const bool is_result = is([&](int i) { return expected[from + i]; });
    const bool is_repeated = is([&](int i) { return 2 * expected[from + i] + 1; });
    if (!is_result && !is_repeated) continue;
    return say("it comes from chunk ", other,
               other < chunk ? ", which was in the same buffer: a kernel ran before "
                             : ", which was copied into the buffer before ",
               its, other < chunk ? " had arrived there" : " had left it");
  }
  return "";
}

void check_results(int n, int chunk, bool copying_first) {
  Work work(n, chunk);
  work.start();
  for (const bool is_copying : {copying_first, !copying_first}) {
    cudaStreamSynchronize(is_copying ? work.copying : work.computing);
  }
  expect_no_error(work.what);
  std::vector<float> expected = numbers(n);
  for (float& number : expected) number = 2 * number + 1;
  int wrong = 0;
  while (wrong < n && work.y[wrong] == expected[wrong]) ++wrong;
  if (wrong == n) return;
  const std::string reason = reason_for(work, expected, wrong / chunk);
  fail(work.what, ", y[", wrong, "] is ", work.y[wrong], " instead of ", expected[wrong],
       reason.empty() ? "" : ": " + reason, " (when the host waits for `",
       copying_first ? "copying" : "computing",
       "` first, and each stream does only what it must).");
}

}  // namespace

void check() {
  for (const auto& [n, chunk] : {std::pair(100, 33), {1, 1}, {5, 8}, {1000, 128}, {1024, 256}}) {
    check_results(n, chunk, false);
    check_results(n, chunk, true);
  }
  pass_counted("the results are right, in whatever order the streams run");
  if (!is_counting()) return;

  {
    Work work(1024, 256);
    count([&] { work.start(); },
          [&](const Counts& counts) {
            expect_threads(counts, work.what, 128, "which share a chunk");
            expect_full_warps(counts, work.what);
          });
  }
  {
    Work work(1000, 256);
    const std::uint64_t waits = calls().host_synchronizations;
    work.start();
    const double waited = calls().host_synchronizations - waits;
    expect(waited == 0, work.what, ", the host waits ", waited,
           " times in the function; it must only say which stream waits for what "
           "(cudaStreamWaitEvent).");
  }
  pass("the host does not wait");

  {
    // The streams are lazy: asking for one does a piece of its work.
    Work work(1000, 256);
    const Calls before = calls();
    work.start();
    while (calls().copies < before.copies + 2) {
      expect(cudaStreamQuery(work.copying) == cudaErrorNotReady, work.what,
             ", the stream `copying` does not do the copies to the GPU; only there can they "
             "overlap with the kernels.");
    }
    expect(calls().launches == before.launches, work.what,
           ", the second chunk can only arrive when the first one has been computed; it has a "
           "buffer of its own and need not wait.");
  }
  pass("the second chunk can arrive while the first one is computed");
}

}  // namespace exercise
