// Threads that wait by asking again and again, without a word to the scheduler: locks, flags, and a ticket.
#include <cstdio>

struct Lock {
  int *mutex;
  Lock() {
    int free = 0;
    cudaMalloc(&mutex, sizeof(int));
    cudaMemcpy(mutex, &free, sizeof(int), cudaMemcpyHostToDevice);
  }
  __device__ void lock() { while (atomicCAS(mutex, 0, 1) != 0); }
  __device__ void unlock() { __threadfence(); atomicExch(mutex, 0); }
};

__device__ int sum = 0;
__device__ volatile int stage = 0;

__global__ void locked(Lock lock) {
  if (threadIdx.x == 0) {
    lock.lock();
    sum += blockIdx.x;
    lock.unlock();
  }
}

// The last thread lets the others go on, one after another.
__global__ void relay(int *order) {
  __shared__ volatile int turn;
  const int last = blockDim.x - 1;
  if (threadIdx.x == last) {
    turn = last - 1;
    while (turn >= 0) {
      // the others have theirs
    }
    stage = 1;
  } else {
    while (turn != (int)threadIdx.x) {}
    order[last - 1 - threadIdx.x] = threadIdx.x;
    turn = turn - 1;
  }
  int rounds = 0;
  do ++rounds; while (rounds < 3);
  do { --rounds; } while (rounds > 0);
  while (!stage)
    ;
  if (threadIdx.x == 0) order[last] = rounds;
}

int main() {
  Lock lock;
  locked<<<100, 4>>>(lock);
  int *order, total;
  cudaMallocManaged(&order, 5 * sizeof(int));
  relay<<<1, 5>>>(order);
  cudaMemcpyFromSymbol(&total, sum, sizeof(int));
  cudaDeviceSynchronize();
  printf("%d\n%d %d %d %d %d\n", total, order[0], order[1], order[2], order[3], order[4]);
  cudaFree(order);
  return 0;
}
