// Work that nobody waits for.

#include <algorithm>

#include "mistakes.cuh"

namespace mistakes {
namespace {

//! [missing_barrier]
__global__ void left_neighbour(const float* x, float* y) {
  __shared__ float tile[64];
  const int i = threadIdx.x;
  tile[i] = x[i];
  y[i] = i > 0 ? tile[i - 1] : 0;
}
//! [missing_barrier]

//! [missing_barrier_cured]
__global__ void left_neighbour_cured(const float* x, float* y) {
  __shared__ float tile[64];
  const int i = threadIdx.x;
  tile[i] = x[i];
  __syncthreads();
  y[i] = i > 0 ? tile[i - 1] : 0;
}
//! [missing_barrier_cured]

const Mistake missing_barrier("missing_barrier", [](bool cured) {
  float* const x = counting(64);
  float* const y = unset(64);
  cured ? left_neighbour_cured<<<1, 64>>>(x, y) : left_neighbour<<<1, 64>>>(x, y);
  std::vector<float> right(64);
  std::iota(right.begin(), right.end(), 0.0F);
  expect(y, right);
});

//! [missing_wait]
void run(int n, cudaStream_t stream, float* x, float* host, std::vector<float>& result) {
  fill<<<4, 256, 0, stream>>>(n, 1.0F, x);
  check(cudaMemcpyAsync(host, x, n * sizeof(float), cudaMemcpyDeviceToHost, stream));
  result.assign(host, host + n);
}
//! [missing_wait]

//! [missing_wait_cured]
void run_cured(int n, cudaStream_t stream, float* x, float* host, std::vector<float>& result) {
  fill<<<4, 256, 0, stream>>>(n, 1.0F, x);
  check(cudaMemcpyAsync(host, x, n * sizeof(float), cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  result.assign(host, host + n);
}
//! [missing_wait_cured]

cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

const Mistake missing_wait("missing_wait", [](bool cured) {
  const int n = 1000;
  float* host = nullptr;
  check(cudaMallocHost(&host, n * sizeof(float)));  // pinned, or the copy would not be asynchronous
  std::fill_n(host, n, 0.0F);
  std::vector<float> result;
  (cured ? run_cured : run)(n, new_stream(), unset(n), host, result);
  expect(result.data(), std::vector<float>(n, 1));
});

//! [missing_event]
void run(int n, cudaStream_t first, cudaStream_t second, float* x, float* y) {
  fill<<<4, 256, 0, first>>>(n, 1.0F, x);
  add<<<4, 256, 0, second>>>(n, x, y);
  check(cudaStreamSynchronize(second));
}
//! [missing_event]

//! [missing_event_cured]
void run_cured(int n, cudaStream_t first, cudaStream_t second, cudaEvent_t filled, float* x,
               float* y) {
  fill<<<4, 256, 0, first>>>(n, 1.0F, x);
  check(cudaEventRecord(filled, first));
  check(cudaStreamWaitEvent(second, filled, 0));
  add<<<4, 256, 0, second>>>(n, x, y);
  check(cudaStreamSynchronize(second));
}
//! [missing_event_cured]

const Mistake missing_event("missing_event", [](bool cured) {
  const int n = 1000;
  float* const x = unset(n);
  float* const y = unset(n);
  cudaEvent_t filled = nullptr;
  check(cudaMemset(x, 0, n * sizeof(float)));
  check(cudaMemset(y, 0, n * sizeof(float)));
  check(cudaDeviceSynchronize());
  check(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming));
  if (cured) {
    run_cured(n, new_stream(), new_stream(), filled, x, y);
  } else {
    run(n, new_stream(), new_stream(), x, y);
  }
  expect(y, std::vector<float>(n, 1));
});

}  // namespace

}  // namespace mistakes
