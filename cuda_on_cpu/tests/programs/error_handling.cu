// What wrong arguments are answered with; none of these spoils the device.
#include <stdio.h>
#include <cuda_runtime.h>

__global__ void increment(int *x) { *x += 1; }

static int line_number = 0;
static void show(const char *what, cudaError_t error) {
  printf("%2d %-34s %s (%d): %s\n", ++line_number, what, cudaGetErrorName(error), (int)error, cudaGetErrorString(error));
  if (error != cudaErrorNotReady) cudaGetLastError(); /* forget it */
}

int main(void) {
  int count = 0, *x = NULL, *none = NULL;
  cudaGetDeviceCount(&count);
  show("cudaSetDevice(count)", cudaSetDevice(count));
  show("cudaMalloc(NULL)", cudaMalloc((void **)NULL, 4));
  show("cudaMalloc(too much)", cudaMalloc((void **)&x, (size_t)-1));
  show("cudaMalloc(4)", cudaMalloc((void **)&x, sizeof(int)));
  show("cudaFree(NULL)", cudaFree(none));
  show("cudaMemset", cudaMemset(x, 0, sizeof(int)));
  show("unknown direction", cudaMemcpy(x, x, sizeof(int), (enum cudaMemcpyKind)17));
  show("no bytes", cudaMemcpy(x, x, 0, cudaMemcpyDeviceToDevice));

  cudaDeviceProp prop;
  show("properties of device -1", cudaGetDeviceProperties(&prop, -1));
  int value = 0;
  show("unknown attribute", cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)9999, 0));
  size_t limit = 0;
  show("unknown limit", cudaDeviceGetLimit(&limit, (enum cudaLimit)77));
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreateWithFlags(&stop, cudaEventDisableTiming);
  float ms = 0;
  show("time between fresh events", cudaEventElapsedTime(&ms, start, stop));
  cudaStream_t stream;
  show("unknown flags of a stream", cudaStreamCreateWithFlags(&stream, 0x40));
  show("unknown flags of host memory", cudaHostAlloc((void **)&x, 4, 0x80));
  show("memory that is not pinned", cudaHostUnregister(&value));
  show("attributes of any pointer", cudaPointerGetAttributes(&(struct cudaPointerAttributes &)*new cudaPointerAttributes, &value));

  /* An error of a launch waits until it is asked for, and is then forgotten. */
  cudaMalloc((void **)&x, sizeof(int));
  cudaMemset(x, 0, sizeof(int));
  increment<<<1, 1>>>(x);
  show("a good launch, peeked at", cudaPeekAtLastError());
  show("the device", cudaDeviceSynchronize());
  cudaMemcpy(&value, x, sizeof(int), cudaMemcpyDeviceToHost);
  printf("x is %d\n", value);
  printf("no such code: %s\n", cudaGetErrorName((cudaError_t)12345));
  show("cudaFree", cudaFree(x));
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  show("reset", cudaDeviceReset());
  return 0;
}
