#include "check.hpp"

#include EXERCISE_FILE

// Here, names such as count() are the check's, also if the learner's file has them.
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

  void start() { affine_in_chunks(n, chunk, x, y, buffers, copying, computing, arrived, used); }

  std::string what() const {
    return "For n = " + std::to_string(n) + " in chunks of " + std::to_string(chunk);
  }

  int n;
  int chunk;
  cudaStream_t copying = nullptr;
  cudaStream_t computing = nullptr;
  float* x = nullptr;
  float* y = nullptr;
  float* buffers[2] = {};
  cudaEvent_t arrived[2] = {};
  cudaEvent_t used[2] = {};
};

void check_results(int n, int chunk, bool copying_first) {
  Work work(n, chunk);
  work.start();
  for (const bool is_copying : {copying_first, !copying_first}) {
    cudaStreamSynchronize(is_copying ? work.copying : work.computing);
  }
  expect_no_error(work.what());
  std::vector<float> expected = numbers(n);
  for (float& number : expected) number = 2 * number + 1;
  expect_equal(std::vector<float>(work.y, work.y + n), expected,
               work.what() + ", if the caller waits for " +
                   (copying_first ? "`copying`" : "`computing`") +
                   " first and no stream runs ahead unless it must");
}

void run() {
  for (const auto& [n, chunk] : {std::pair(1, 1), {5, 8}, {100, 33}, {1000, 128}, {1024, 256}}) {
    check_results(n, chunk, false);
    check_results(n, chunk, true);
  }
  pass_counted("the results are right, in whatever order the streams run");
  if (!is_counting()) return;

  {
    Work work(1000, 256);
    const std::uint64_t waits = cuda_on_cpu::counters().host_synchronizations;
    work.start();
    const double waited = cuda_on_cpu::counters().host_synchronizations - waits;
    expect(waited == 0, work.what() + ", the host waits " + text(waited) +
                            " times in the function; it must only say what waits for what.");
  }
  pass("the host does not wait");

  {
    // The streams are lazy: asking for one does a piece of its work.
    Work work(1000, 256);
    const cuda_on_cpu::Counters before = cuda_on_cpu::counters();
    work.start();
    while (cuda_on_cpu::counters().copies < before.copies + 2) {
      expect(cudaStreamQuery(work.copying) == cudaErrorNotReady,
             work.what() +
                 ", the stream `copying` has nothing to do, or not the copies to the GPU; "
                 "they must be there to overlap with the kernels.");
    }
    expect(cuda_on_cpu::counters().launches == before.launches,
           work.what() +
               ", the second chunk can only arrive when the first one has been computed; "
               "it has a buffer of its own and need not wait.");
  }
  pass("the second chunk can arrive while the first one is computed");
}

}  // namespace
}  // namespace exercise

void check() {
  exercise::run();
}
