// Double buffering over streams, with host functions and callbacks that count what has been done.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static void HandleError(cudaError_t err, const char* file, int line) {
  if (err != cudaSuccess) {
    printf("%s in %s at line %d\n", cudaGetErrorString(err), file, line);
    exit(EXIT_FAILURE);
  }
}
#define HANDLE_ERROR(err) (HandleError(err, __FILE__, __LINE__))

#define N (4096)
#define FULL_DATA_SIZE (N * 8)

__global__ void kernel(int* a, int* b, int* c) {
  int idx = threadIdx.x + blockIdx.x * blockDim.x;
  if (idx < N) {
    int idx1 = (idx + 1) % 256, idx2 = (idx + 2) % 256;
    float as = (a[idx] + a[idx1] + a[idx2]) / 3.0f;
    float bs = (b[idx] + b[idx1] + b[idx2]) / 3.0f;
    c[idx] = (as + bs) / 2;
  }
}

struct Progress { int chunks[2]; int callbacks; cudaError_t worst; };

void CUDART_CB chunk_done(void* data) { ++*static_cast<int*>(data); }
void CUDART_CB all_done(cudaStream_t stream, cudaError_t status, void* data) {
  Progress* progress = static_cast<Progress*>(data);
  progress->callbacks += stream != 0;
  if (status != cudaSuccess) progress->worst = status;
}

int main(void) {
  cudaDeviceProp prop;
  int whichDevice;
  HANDLE_ERROR(cudaGetDevice(&whichDevice));
  HANDLE_ERROR(cudaGetDeviceProperties(&prop, whichDevice));
  if (prop.asyncEngineCount == 0) { printf("Device will not handle overlaps\n"); return 0; }

  cudaEvent_t start, stop;
  float elapsedTime;
  HANDLE_ERROR(cudaEventCreate(&start));
  HANDLE_ERROR(cudaEventCreate(&stop));
  cudaStream_t stream[2];
  int least, greatest;
  HANDLE_ERROR(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  HANDLE_ERROR(cudaStreamCreateWithPriority(&stream[0], cudaStreamNonBlocking, greatest));
  HANDLE_ERROR(cudaStreamCreateWithFlags(&stream[1], cudaStreamNonBlocking));

  int *host_a, *host_b, *host_c, *dev_a[2], *dev_b[2], *dev_c[2];
  for (int s = 0; s < 2; s++) {
    HANDLE_ERROR(cudaMalloc((void**)&dev_a[s], N * sizeof(int)));
    HANDLE_ERROR(cudaMalloc((void**)&dev_b[s], N * sizeof(int)));
    HANDLE_ERROR(cudaMalloc((void**)&dev_c[s], N * sizeof(int)));
  }
  HANDLE_ERROR(cudaHostAlloc((void**)&host_a, FULL_DATA_SIZE * sizeof(int), cudaHostAllocDefault));
  HANDLE_ERROR(cudaHostAlloc((void**)&host_b, FULL_DATA_SIZE * sizeof(int), cudaHostAllocDefault));
  HANDLE_ERROR(cudaHostAlloc((void**)&host_c, FULL_DATA_SIZE * sizeof(int), cudaHostAllocDefault));
  for (int i = 0; i < FULL_DATA_SIZE; i++) { host_a[i] = i % 1000; host_b[i] = (i * 7) % 1000; }

  Progress progress = {{0, 0}, 0, cudaSuccess};
  HANDLE_ERROR(cudaEventRecord(start, 0));
  for (int i = 0; i < FULL_DATA_SIZE; i += N) {
    int s = (i / N) % 2;
    HANDLE_ERROR(cudaMemcpyAsync(dev_a[s], host_a + i, N * sizeof(int), cudaMemcpyHostToDevice, stream[s]));
    HANDLE_ERROR(cudaMemcpyAsync(dev_b[s], host_b + i, N * sizeof(int), cudaMemcpyHostToDevice, stream[s]));
    kernel<<<N / 256, 256, 0, stream[s]>>>(dev_a[s], dev_b[s], dev_c[s]);
    HANDLE_ERROR(cudaMemcpyAsync(host_c + i, dev_c[s], N * sizeof(int), cudaMemcpyDeviceToHost, stream[s]));
    HANDLE_ERROR(cudaLaunchHostFunc(stream[s], chunk_done, &progress.chunks[s]));
  }
  for (int s = 0; s < 2; s++) HANDLE_ERROR(cudaStreamAddCallback(stream[s], all_done, &progress, 0));
  HANDLE_ERROR(cudaStreamSynchronize(stream[0]));
  HANDLE_ERROR(cudaStreamSynchronize(stream[1]));
  HANDLE_ERROR(cudaEventRecord(stop, 0));
  HANDLE_ERROR(cudaEventSynchronize(stop));
  HANDLE_ERROR(cudaEventElapsedTime(&elapsedTime, start, stop));

  long long sum = 0;
  for (int i = 0; i < FULL_DATA_SIZE; i++) sum += host_c[i];
  printf("chunks %d + %d, callbacks %d, status %s, time is %s, sum %lld\n", progress.chunks[0], progress.chunks[1],
         progress.callbacks, cudaGetErrorName(progress.worst), elapsedTime >= 0 ? "a number" : "negative", sum);
  printf("streams are done: %s\n", cudaStreamQuery(stream[0]) == cudaSuccess ? "yes" : "no");

  for (int s = 0; s < 2; s++) {
    cudaFree(dev_a[s]); cudaFree(dev_b[s]); cudaFree(dev_c[s]);
    HANDLE_ERROR(cudaStreamDestroy(stream[s]));
  }
  HANDLE_ERROR(cudaFreeHost(host_a));
  HANDLE_ERROR(cudaFreeHost(host_b));
  HANDLE_ERROR(cudaFreeHost(host_c));
  HANDLE_ERROR(cudaEventDestroy(start));
  HANDLE_ERROR(cudaEventDestroy(stop));
  return 0;
}
