// A course's skeleton: several versions of a kernel, timed by events under ranges of a profiler, checked against the host.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nvtx3/nvToolsExt.h>

#define CUDA_TRY(call)                                                          \
  do {                                                                          \
    cudaError_t const status = (call);                                          \
    if (cudaSuccess != status) {                                                \
      fprintf(stderr, "%s %s %d\n", cudaGetErrorString(status), __FILE__, __LINE__); \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

class GpuTimer {
  cudaEvent_t start_, stop_;
 public:
  GpuTimer() { CUDA_TRY(cudaEventCreate(&start_)); CUDA_TRY(cudaEventCreate(&stop_, cudaEventBlockingSync)); }
  ~GpuTimer() { cudaEventDestroy(start_); cudaEventDestroy(stop_); }
  void Start() { CUDA_TRY(cudaEventRecord(start_, cudaStreamPerThread)); }
  void Stop() { CUDA_TRY(cudaEventRecordWithFlags(stop_, cudaStreamPerThread, cudaEventRecordDefault)); }
  float Elapsed() {
    float elapsed = -1;
    CUDA_TRY(cudaEventSynchronize(stop_));
    CUDA_TRY(cudaEventElapsedTime(&elapsed, start_, stop_));
    return elapsed;
  }
};

__global__ void polynomial_simple(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 3 * x[i] * x[i] - 2 * x[i] + 1;
}

__global__ void polynomial_float4(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 4) {
    float4 v = reinterpret_cast<const float4 *>(x)[i];
    float4 r;
    r.x = 3 * v.x * v.x - 2 * v.x + 1;
    r.y = 3 * v.y * v.y - 2 * v.y + 1;
    r.z = 3 * v.z * v.z - 2 * v.z + 1;
    r.w = 3 * v.w * v.w - 2 * v.w + 1;
    reinterpret_cast<float4 *>(y)[i] = r;
  }
  if (i < n % 4) {
    float v = x[n / 4 * 4 + i];
    y[n / 4 * 4 + i] = 3 * v * v - 2 * v + 1;
  }
}

typedef void (*Version)(const float *, float *, int);

int main() {
  const int n = 10007;
  float *x, *y, *h_x = (float *)malloc(n * sizeof(float)), *h_y = (float *)malloc(n * sizeof(float));
  for (int i = 0; i < n; i++) h_x[i] = (float)(i % 64);
  CUDA_TRY(cudaMalloc(&x, n * sizeof(float)));
  CUDA_TRY(cudaMalloc(&y, n * sizeof(float)));
  CUDA_TRY(cudaMemcpy(x, h_x, n * sizeof(float), cudaMemcpyHostToDevice));

  const char *names[] = {"simple", "float4"};
  Version versions[] = {polynomial_simple, polynomial_float4};
  for (int v = 0; v < 2; v++) {
    nvtxEventAttributes_t attributes;
    memset(&attributes, 0, sizeof(attributes));
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = names[v];
    nvtxRangePushEx(&attributes);
    CUDA_TRY(cudaMemsetAsync(y, 0xff, n * sizeof(float), cudaStreamPerThread));
    GpuTimer timer;
    timer.Start();
    for (int repeat = 0; repeat < 5; repeat++) versions[v]<<<(n + 127) / 128, 128, 0, cudaStreamPerThread>>>(x, y, n);
    timer.Stop();
    CUDA_TRY(cudaGetLastError());
    float ms = timer.Elapsed();
    CUDA_TRY(cudaMemcpyAsync(h_y, y, n * sizeof(float), cudaMemcpyDeviceToHost, cudaStreamPerThread));
    CUDA_TRY(cudaStreamSynchronize(cudaStreamPerThread));
    nvtxRangePop();
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += h_y[i] != 3 * h_x[i] * h_x[i] - 2 * h_x[i] + 1;
    printf("%-8s %s, %d wrong\n", names[v], ms >= 0 ? "timed" : "not timed", wrong);
  }
  cudaFree(x);
  cudaFree(y);
  free(h_x);
  free(h_y);
  return 0;
}
