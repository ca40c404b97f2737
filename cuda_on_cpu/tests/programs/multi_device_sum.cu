// Splits a sum over all devices that there are, with a stream and pinned memory on each; peers where possible.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda_profiler_api.h"

#define SAFE_CALL(call) do { cudaError_t err = call; if (cudaSuccess != err) { \
  fprintf(stderr, "Cuda error in file '%s' in line %i : %s.\n", __FILE__, __LINE__, cudaGetErrorString(err)); exit(EXIT_FAILURE); } } while (0)

typedef struct {
  int dataN;
  float *h_Data, *h_Sum, *d_Data, *d_Sum;
  cudaStream_t stream;
  cudaEvent_t done;
} TGPUplan;

const int MAX_GPU_COUNT = 8, DATA_N = 100000, BLOCK_N = 4, THREAD_N = 64;

__global__ static void reduceKernel(float *d_Result, float *d_Input, int N) {
  const int tid = blockIdx.x * blockDim.x + threadIdx.x;
  const int threadN = gridDim.x * blockDim.x;
  float sum = 0;
  for (int pos = tid; pos < N; pos += threadN) sum += d_Input[pos];
  d_Result[tid] = sum;
}

int main() {
  TGPUplan plan[MAX_GPU_COUNT];
  int GPU_N = 0;
  const int ACCUM_N = BLOCK_N * THREAD_N;
  SAFE_CALL(cudaGetDeviceCount(&GPU_N));
  GPU_N = min(GPU_N, MAX_GPU_COUNT);
  SAFE_CALL(cudaProfilerStart());
  for (int i = 0; i < GPU_N; i++) plan[i].dataN = DATA_N / GPU_N + (i < DATA_N % GPU_N);

  int begin = 0;
  for (int i = 0; i < GPU_N; i++) {
    SAFE_CALL(cudaSetDevice(i));
    for (int j = 0; j < GPU_N; j++) {
      int can = 0;
      if (i != j) SAFE_CALL(cudaDeviceCanAccessPeer(&can, i, j));
      if (can) SAFE_CALL(cudaDeviceEnablePeerAccess(j, 0));
    }
    SAFE_CALL(cudaStreamCreate(&plan[i].stream));
    SAFE_CALL(cudaEventCreateWithFlags(&plan[i].done, cudaEventDisableTiming | cudaEventBlockingSync));
    SAFE_CALL(cudaMalloc((void **)&plan[i].d_Data, plan[i].dataN * sizeof(float)));
    SAFE_CALL(cudaMalloc((void **)&plan[i].d_Sum, ACCUM_N * sizeof(float)));
    SAFE_CALL(cudaMallocHost((void **)&plan[i].h_Sum, ACCUM_N * sizeof(float)));
    SAFE_CALL(cudaMallocHost((void **)&plan[i].h_Data, plan[i].dataN * sizeof(float)));
    for (int j = 0; j < plan[i].dataN; j++) plan[i].h_Data[j] = (float)((begin + j) % 8);
    begin += plan[i].dataN;
  }
  for (int i = 0; i < GPU_N; i++) {
    SAFE_CALL(cudaSetDevice(i));
    SAFE_CALL(cudaMemcpyAsync(plan[i].d_Data, plan[i].h_Data, plan[i].dataN * sizeof(float), cudaMemcpyHostToDevice, plan[i].stream));
    reduceKernel<<<BLOCK_N, THREAD_N, 0, plan[i].stream>>>(plan[i].d_Sum, plan[i].d_Data, plan[i].dataN);
    SAFE_CALL(cudaGetLastError());
    SAFE_CALL(cudaMemcpyAsync(plan[i].h_Sum, plan[i].d_Sum, ACCUM_N * sizeof(float), cudaMemcpyDeviceToHost, plan[i].stream));
    SAFE_CALL(cudaEventRecord(plan[i].done, plan[i].stream));
  }
  double total = 0;
  for (int i = 0; i < GPU_N; i++) {
    SAFE_CALL(cudaSetDevice(i));
    while (cudaEventQuery(plan[i].done) == cudaErrorNotReady) { /* poll */ }
    for (int j = 0; j < ACCUM_N; j++) total += plan[i].h_Sum[j];
  }
  // The first device's partial sums, copied to the last.
  float first = 0, again = 0;
  SAFE_CALL(cudaMemcpyPeer(plan[GPU_N - 1].d_Data, GPU_N - 1, plan[0].d_Sum, 0, ACCUM_N * sizeof(float)));
  SAFE_CALL(cudaMemcpy(&first, plan[0].d_Sum, sizeof(float), cudaMemcpyDeviceToHost));
  SAFE_CALL(cudaMemcpy(&again, plan[GPU_N - 1].d_Data, sizeof(float), cudaMemcpyDeviceToHost));
  SAFE_CALL(cudaProfilerStop());
  for (int i = 0; i < GPU_N; i++) {
    SAFE_CALL(cudaSetDevice(i));
    SAFE_CALL(cudaFreeHost(plan[i].h_Sum));
    SAFE_CALL(cudaFreeHost(plan[i].h_Data));
    SAFE_CALL(cudaFree(plan[i].d_Sum));
    SAFE_CALL(cudaFree(plan[i].d_Data));
    SAFE_CALL(cudaEventDestroy(plan[i].done));
    SAFE_CALL(cudaStreamDestroy(plan[i].stream));
  }
  printf("sum of %d elements: %.0f, the peer has the same: %s\n", DATA_N, total, first == again ? "yes" : "no");
  return total == 350000.0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
