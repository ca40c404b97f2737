// Kernels that launch kernels, copy and fill: what they launch sees what they have written, and is over when they are.
#include "expect.h"

__global__ void square(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= x[i];
}

__global__ void rows(int* x, const int* lengths, int width) {
  int* const row = x + threadIdx.x * width;
  if (lengths[threadIdx.x] == 0) return;
  row[0] += 1;
  square<<<(lengths[threadIdx.x] + 31) / 32, 32>>>(row, lengths[threadIdx.x]);
  square<<<1, 1>>>(row, 1);  // in the same stream: behind the other
}

// Each launch is for one half; below 8 elements a thread adds up.
template <class T>
__global__ void sum(const T* x, int n, T* total) {
  if (n > 8) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    sum<<<1, 1, 0, stream>>>(x, n / 2, total);
    sum<T><<<1, 1>>>(x + n / 2, n - n / 2, total);
    cudaStreamDestroy(stream);
    return;
  }
  for (int i = 0; i < n; ++i) atomicAdd(total, x[i]);
}

__global__ void report(const int* total, int* seen) { *seen = *total; }

__global__ void sum_and_report(const int* x, int n, int* total, int* seen) {
  report<<<1, 1, 0, cudaStreamTailLaunch>>>(total, seen);
  cudaMemsetAsync(total, 0, sizeof(int), 0);
  sum<<<1, 1>>>(x, n, total);
}

// Launches itself until all is done, as a loop would.
__global__ void halve(int* n, int* steps) {
  if (*n <= 1) return;
  *n = *n % 2 == 0 ? *n / 2 : 3 * *n + 1;
  ++*steps;
  halve<<<1, 1, 0, cudaStreamTailLaunch>>>(n, steps);
}

__global__ void scratch(int** kept) {
  int* memory = nullptr;
  if (cudaMalloc(&memory, 4 * sizeof(int)) != cudaSuccess) return;
  for (int i = 0; i < 4; ++i) memory[i] = blockIdx.x + i;
  kept[blockIdx.x] = memory;
  square<<<1, 4>>>(memory, 4);
}
__global__ void free_scratch(int** kept, int* total) {
  for (int i = 0; i < 4; ++i) atomicAdd(total, kept[blockIdx.x][i]);
  cudaFree(kept[blockIdx.x]);
}

// Streams and events of kernels, on as many OS threads as run blocks.
__global__ void copy_behind(int* x, int* y) {
  if (threadIdx.x != 0) return;
  cudaStream_t stream;
  cudaEvent_t event;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  if (cudaEventCreateWithFlags(&event, cudaEventDisableTiming) != cudaSuccess) return;
  int* const mine = x + 4 * blockIdx.x;
  square<<<1, 4, 0, stream>>>(mine, 4);
  cudaEventRecord(event, stream);
  cudaStreamWaitEvent(0, event, 0);
  cudaMemcpyAsync(y + 4 * blockIdx.x, mine, 4 * sizeof(int), cudaMemcpyDeviceToDevice, 0);
  cudaEventDestroy(event);
  cudaStreamDestroy(stream);
}

int main() {
  const int width = 40;
  int *x, *lengths, *total;
  OK(cudaMallocManaged(&x, 4 * width * sizeof(int)));
  OK(cudaMallocManaged(&lengths, 4 * sizeof(int)));
  OK(cudaMallocManaged(&total, 2 * sizeof(int)));
  for (int i = 0; i < 4 * width; ++i) x[i] = i % width;
  for (int i = 0; i < 4; ++i) lengths[i] = 13 * i;
  rows<<<1, 4>>>(x, lengths, width);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 4; ++i)
    printf("%d %d %d %d\n", x[i * width], x[i * width + 1], x[i * width + 12], x[i * width + 39]);
  total[0] = 0;
  sum<<<1, 1>>>(x, 4 * width, total);
  OK(cudaDeviceSynchronize());
  printf("sum %d\n", *total);
  sum_and_report<<<1, 1>>>(x, width, total, total + 1);
  OK(cudaDeviceSynchronize());
  printf("sum %d, seen as %d\n", total[0], total[1]);
  total[0] = 27;
  total[1] = 0;
  halve<<<1, 1>>>(total, total + 1);
  OK(cudaDeviceSynchronize());
  printf("%d after %d steps\n", total[0], total[1]);
  int** kept;
  OK(cudaMalloc(&kept, 50 * sizeof(int*)));
  *total = 0;
  scratch<<<50, 1>>>(kept);
  free_scratch<<<50, 1>>>(kept, total);
  OK(cudaDeviceSynchronize());
  printf("%d\n", *total);
  for (int i = 0; i < 2 * width; ++i) x[i] = i;
  copy_behind<<<width / 2, 32>>>(x, x + 2 * width);
  OK(cudaDeviceSynchronize());
  printf("%d %d\n", x[2 * width + 1], x[4 * width - 1]);
}

//> 0 1 12 39
//> 1 1 144 39
//> 1 1 144 39
//> 1 1 144 39
//> sum 27173
//> sum 780, seen as 780
//> 1 after 111 steps
//> 177100
//> 1 6241
