// Threads that wait for others in loops that do something: count, read a volatile flag, draw from a lock.
#include <cstdio>
#include <cuda/atomic>

__device__ volatile int stage;

__global__ void spin(int* total, int* lock) {
  __shared__ int flag;
  __shared__ volatile int watched;
  __shared__ cuda::atomic<int, cuda::thread_scope_block> object;
  if (threadIdx.x == 0) {
    flag = 0;
    watched = 0;
    object.store(0);
    stage = 0;
  }
  __syncthreads();
  int spins = 0;
  if (threadIdx.x == 0) {
    while (atomicAdd(&flag, 0) == 0) ++spins;
    watched = 1;
  } else if (threadIdx.x == 33) {
    while (watched == 0) ++spins;
    object.store(1);
  } else if (threadIdx.x == 7) {
    while (object.load() == 0) ++spins;
    stage = 1;
  } else if (threadIdx.x == 50) {
    do {
      ++spins;
    } while (stage == 0);
  } else if (threadIdx.x == 63) {
    atomicExch(&flag, 1);
  }
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(lock, 0, 1) != 0) ++spins;
    *total += 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}

int main() {
  int* numbers = nullptr;
  cudaMallocManaged(&numbers, 2 * sizeof(int));
  numbers[0] = numbers[1] = 0;
  spin<<<1, 64>>>(&numbers[0], &numbers[1]);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s, %d\n", cudaGetErrorString(error), numbers[0]);
}
