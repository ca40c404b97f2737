// Double buffering over streams of both kinds of host memory, with priorities, events that measure, host functions and
// callbacks that count what has been done.
#include "expect.h"

#define N (1024)
#define CHUNKS 8

__global__ void kernel(const int* a, int* b, int first) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < N) b[i] = 2 * a[i] + first;
}

struct Progress { int chunks[2]; int callbacks; cudaError_t worst; };

void CUDART_CB chunk_done(void* data) { ++*static_cast<int*>(data); }
void CUDART_CB all_done(cudaStream_t stream, cudaError_t status, void* data) {
  Progress* progress = static_cast<Progress*>(data);
  progress->callbacks += stream != 0;
  if (status != cudaSuccess) progress->worst = status;
}

int main(void) {
  cudaStream_t stream[2];
  cudaEvent_t done[2];
  int least, greatest;
  OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  OK(cudaStreamCreateWithPriority(&stream[0], cudaStreamNonBlocking, greatest));
  OK(cudaStreamCreateWithFlags(&stream[1], cudaStreamNonBlocking));

  int *host_a, *host_b, *dev_a[2], *dev_b[2];
  for (int s = 0; s < 2; s++) {
    OK(cudaMalloc((void**)&dev_a[s], N * sizeof(int)));
    OK(cudaMalloc((void**)&dev_b[s], N * sizeof(int)));
    OK(cudaEventCreateWithFlags(&done[s], cudaEventDisableTiming));
  }
  OK(cudaHostAlloc((void**)&host_a, N * CHUNKS * sizeof(int), cudaHostAllocDefault));
  OK(cudaMallocHost((void**)&host_b, N * CHUNKS * sizeof(int)));
  for (int i = 0; i < N * CHUNKS; i++) host_a[i] = i % 1000;

  Progress progress = {{0, 0}, 0, cudaSuccess};
  for (int chunk = 0; chunk < CHUNKS; chunk++) {
    int s = chunk % 2, i = chunk * N;
    OK(cudaMemcpyAsync(dev_a[s], host_a + i, N * sizeof(int), cudaMemcpyHostToDevice, stream[s]));
    kernel<<<N / 256, 256, 0, stream[s]>>>(dev_a[s], dev_b[s], i);
    OK(cudaMemcpyAsync(host_b + i, dev_b[s], N * sizeof(int), cudaMemcpyDeviceToHost, stream[s]));
    OK(cudaLaunchHostFunc(stream[s], chunk_done, &progress.chunks[s]));
  }
  for (int s = 0; s < 2; s++) {
    OK(cudaStreamAddCallback(stream[s], all_done, &progress, 0));
    OK(cudaEventRecord(done[s], stream[s]));
  }
  while (cudaEventQuery(done[0]) == cudaErrorNotReady) { /* poll */ }
  while (cudaStreamQuery(stream[1]) == cudaErrorNotReady) { /* poll */ }
  OK(cudaStreamSynchronize(stream[0]));
  EXPECT(cudaStreamQuery(stream[0]) == cudaSuccess && cudaStreamQuery(stream[1]) == cudaSuccess);
  int wrong = 0;
  for (int i = 0; i < N * CHUNKS; i++) wrong += host_b[i] != 2 * (i % 1000) + i / N * N;
  EXPECT(wrong == 0 && progress.chunks[0] == 4 && progress.chunks[1] == 4);
  EXPECT(progress.callbacks == 2 && progress.worst == cudaSuccess);

  cudaEvent_t start, stop;
  float elapsed = -1;
  OK(cudaEventCreate(&start));
  OK(cudaEventCreate(&stop, cudaEventBlockingSync));
  OK(cudaMemsetAsync(dev_b[0], 0xff, N * sizeof(int), cudaStreamPerThread));
  OK(cudaEventRecord(start, cudaStreamPerThread));
  kernel<<<N / 256, 256, 0, cudaStreamPerThread>>>(dev_a[0], dev_b[0], 5);
  OK(cudaEventRecordWithFlags(stop, cudaStreamPerThread, cudaEventRecordDefault));
  OK(cudaEventSynchronize(stop));
  OK(cudaEventElapsedTime(&elapsed, start, stop));
  EXPECT(elapsed >= 0);
  OK(cudaMemcpyAsync(host_b, dev_b[0], sizeof(int), cudaMemcpyDeviceToHost, cudaStreamPerThread));
  OK(cudaStreamSynchronize(cudaStreamPerThread));
  EXPECT(host_b[0] == 2 * (6 * N % 1000) + 5);

  for (int s = 0; s < 2; s++) {
    OK(cudaFree(dev_a[s]));
    OK(cudaFree(dev_b[s]));
    OK(cudaEventDestroy(done[s]));
    OK(cudaStreamDestroy(stream[s]));
  }
  OK(cudaFreeHost(host_a));
  OK(cudaFreeHost(host_b));
}
